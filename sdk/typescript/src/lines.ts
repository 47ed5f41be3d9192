/** Joins pieces of text and hands on whole lines, without their "\n". */
export class Lines {
  // A list, joined once: adding piece by piece to one text would copy a long message again and again.
  private held: string[] = [];

  constructor(private readonly receive: (line: string) => void) {}

  add(piece: string): void {
    let start = 0;
    for (let end = piece.indexOf("\n"); end >= 0; end = piece.indexOf("\n", start)) {
      this.held.push(piece.slice(start, end));
      const line = this.held.join("");
      this.held = [];
      start = end + 1;
      this.receive(line);
    }
    if (start < piece.length) this.held.push(piece.slice(start));
  }
}

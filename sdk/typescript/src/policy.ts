/** What a sandbox may see and do: the flags of `coop run` by their names. Policy files hold as well. */
export interface PolicyOptions {
  view?: "minimal" | "host";
  home?: string;
  preset?: string;
  noPreset?: boolean;
  importLogin?: boolean;
  showHome?: boolean;
  hideSecrets?: boolean;
  rw?: string[];
  ro?: string[];
  hide?: string[];
  overlay?: string[];
  tmpfs?: string[];
  cache?: string[];
  shareCache?: string[];
  allowGuarded?: string[];
  asRoot?: boolean;
  env?: Record<string, string>;
  passEnv?: string[];
  unsafeEnv?: string[];
  hostname?: string;
  timeOffset?: number;
  noDebug?: boolean;
  network?: "none" | "allowlist" | "full" | "veth" | "host";
  allowNet?: string[];
  denyNet?: string[];
  allowUdp?: string[];
  publish?: string[];
  hostPort?: number[];
  mptcp?: boolean;
  socket?: string[];
  unsafe?: string[];
  /** "512m", "2g" or "unlimited"; sizes of numbers are bytes. */
  memory?: string | number;
  pids?: number | "unlimited";
  cpus?: number;
  tmpSize?: string | number;
  openFiles?: number;
  fileSize?: string | number;
  /** "30s", "5m". */
  timeout?: string;
  outputLimit?: string | number;
  require?: string[];
  bestEffort?: string[];
}

function words(flag: string, value: unknown): string[] {
  if (value === undefined || value === false) return [];
  if (value === true) return [flag];
  if (Array.isArray(value)) return value.flatMap((one) => words(flag, one));
  if (typeof value === "object" && value !== null)
    return Object.entries(value).map(([name, text]) => `${flag}=${name}=${String(text)}`);
  return [`${flag}=${String(value)}`];
}

/** allowNet becomes --allow-net. A name that coop does not know is its error. */
export function policyFlags(policy: PolicyOptions): string[] {
  return Object.entries(policy).flatMap(([name, value]) =>
    words(`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`, value),
  );
}

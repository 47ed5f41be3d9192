/* A client that has never heard of proxies, statically linked as those of Go are: plain_client HOST PORT. It asks the
   name server of /etc/resolv.conf itself, because static programs have no plug-ins for names. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int find_server(struct sockaddr_in* server) {
  char line[256];
  char text[64];
  FILE* file = fopen("/etc/resolv.conf", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "nameserver %63s", text) == 1) return inet_pton(AF_INET, text, &server->sin_addr);
  return 0;
}

static int look_up(const char* name, struct in_addr* found) {
  unsigned char message[512] = {0x12, 0x34, 1, 0, 0, 1};
  struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(53)};
  struct timeval patience = {.tv_sec = 5};
  size_t size = 12;
  int question;
  ssize_t received;
  if (!find_server(&server)) return 0;
  while (*name) {
    size_t length = strcspn(name, ".");
    message[size++] = (unsigned char)length;
    memcpy(message + size, name, length);
    size += length;
    name += length + (name[length] == '.');
  }
  memcpy(message + size, "\0\0\1\0\1", 5);
  size += 5;
  question = socket(AF_INET, SOCK_DGRAM, 0);
  setsockopt(question, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sendto(question, message, size, 0, (struct sockaddr*)&server, sizeof server);
  received = recv(question, message, sizeof message, 0);
  close(question);
  /* One record, of an address, after the question it repeats. */
  if (received < (ssize_t)size + 16 || (message[3] & 15) != 0) return 0;
  memcpy(found, message + received - 4, 4);
  return 1;
}

int main(int count, char** arguments) {
  struct sockaddr_in place = {.sin_family = AF_INET};
  char buffer[4096];
  ssize_t size;
  int number = 0;
  int connection;
  if (count != 3) return 2;
  sscanf(arguments[2], "%d", &number);
  place.sin_port = htons((unsigned short)number);
  if (inet_pton(AF_INET, arguments[1], &place.sin_addr) != 1 && !look_up(arguments[1], &place.sin_addr)) {
    fprintf(stderr, "no such name\n");
    return 3;
  }
  connection = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(connection, (struct sockaddr*)&place, sizeof place) < 0) {
    perror("connect");
    return 4;
  }
  if (dprintf(connection, "GET / HTTP/1.0\r\nHost: %s\r\n\r\n", arguments[1]) < 0) {
    perror("write");
    return 5;
  }
  while ((size = read(connection, buffer, sizeof buffer)) > 0) fwrite(buffer, 1, (size_t)size, stdout);
  if (size < 0) perror("read");
  return size < 0 ? 5 : 0;
}

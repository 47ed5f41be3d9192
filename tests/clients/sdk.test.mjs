// coop under @modelcontextprotocol/sdk, the official TypeScript client, on both transports.
import assert from "node:assert/strict";
import test from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as common from "./common.mjs";

async function connected(transport) {
  const client = new Client({ name: "coop-tests", version: "1.0.0" });
  await client.connect(transport);
  return client;
}

function actions(client) {
  return {
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    listTools: async () => (await client.listTools()).tools,
  };
}

const transports = common.transports(StdioClientTransport, StreamableHTTPClientTransport);

for (const [name, transport] of Object.entries(transports)) {
  test(`over ${name}`, async (t) => {
    const place = common.workspace();
    const client = await connected(await transport(place));
    const tools = actions(client);
    assert.equal(client.getServerVersion().name, "coop");
    assert.match(client.getInstructions(), /sandbox/);
    await t.test("an unmodified client works in a repository", () => common.worksInARepository(tools, place));
    await t.test("attacks are refused by a rule", () => common.refusesAttacks(tools, place));
    await t.test("output is live", () => common.showsLiveOutput(tools, place));
    await t.test("cancelling kills", () => common.cancels(tools));
    await t.test("sixteen at once", () => common.servesSixteenAtOnce(tools));
    await t.test("files are resources", async () => {
      const { resources } = await client.listResources();
      const readme = resources.find((resource) => resource.name === "README.md");
      const { contents } = await client.readResource({ uri: readme.uri });
      assert.match(contents[0].text, /hello from the project/);
      const { resourceTemplates } = await client.listResourceTemplates();
      assert.equal(resourceTemplates[0].uriTemplate, "file:///work/{+path}");
      await assert.rejects(client.readResource({ uri: "file:///etc/shadow" }));
    });
    await t.test("what is no tool is an error of the protocol", async () => {
      await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }));
      const wrong = await client.callTool({ name: "bash", arguments: { comand: "true" } });
      assert.equal(wrong.isError, true);
      assert.match(wrong.content[0].text, /did you mean "command"/);
    });
    await client.ping();
    await client.close();
  });
}

test("over http, others get no further than the door", async () => {
  const place = common.workspace();
  const { url, token } = await common.startHttp(place.directory);
  const post = (headers) => fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } } }),
  });
  const bearer = { Authorization: `Bearer ${token}` };
  assert.equal((await post(bearer)).status, 200);
  assert.equal((await post({})).status, 401);
  assert.equal((await post({ Authorization: "Bearer wrong" })).status, 401);
  assert.equal((await post({ ...bearer, Origin: "https://evil.example" })).status, 403);
  await assert.rejects(connected(new StreamableHTTPClientTransport(url)));
});

test("over http, two clients do not get in each other's way", async () => {
  const place = common.workspace();
  const { url, token } = await common.startHttp(place.directory);
  const open = async () => {
    const transport = new StreamableHTTPClientTransport(url,
      { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
    return { transport, client: await connected(transport) };
  };
  const one = await open();
  const two = await open();
  // Both count their requests from 0: the ids are the same.
  const results = await Promise.all([one, two].map(({ client }, index) =>
    client.callTool({ name: "bash", arguments: { command: `sleep 0.2; echo ${index}` } })));
  assert.deepEqual(results.map((result) => result.content[0].text), ["0\n", "1\n"]);
  await one.transport.terminateSession();
  await assert.rejects(one.client.ping());
  await two.client.ping();
  await two.client.close();
});

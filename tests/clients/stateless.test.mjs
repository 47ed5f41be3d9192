// coop under @modelcontextprotocol/client, which speaks the stateless revision of the protocol (2026-07-28).
import assert from "node:assert/strict";
import test from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import * as common from "./common.mjs";

const revision = "2026-07-28";

const transports = common.transports(StdioClientTransport, StreamableHTTPClientTransport);

for (const [name, transport] of Object.entries(transports)) {
  test(`revision ${revision} over ${name}`, async (t) => {
    const place = common.workspace();
    const client = new Client({ name: "coop-tests", version: "1.0.0" }, { versionNegotiation: { mode: { pin: revision } } });
    await client.connect(await transport(place));
    const tools = {
      call: (tool, args, options) => client.callTool({ name: tool, arguments: args }, options),
      listTools: async () => (await client.listTools()).tools,
    };
    await t.test("an unmodified client works in a repository", () => common.worksInARepository(tools, place));
    await t.test("attacks are refused by a rule", () => common.refusesAttacks(tools, place));
    await t.test("output is live", () => common.showsLiveOutput(tools, place));
    await t.test("cancelling kills", () => common.cancels(tools));
    await t.test("sixteen at once", () => common.servesSixteenAtOnce(tools));
    await t.test("files are resources", async () => {
      const { resources } = await client.listResources();
      const readme = resources.find((resource) => resource.name === "README.md");
      assert.match((await client.readResource({ uri: readme.uri })).contents[0].text, /hello from the project/);
    });
    await client.close();
  });
}

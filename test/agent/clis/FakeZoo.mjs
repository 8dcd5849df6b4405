/**
 * A program in the place of Zoo Code, which npm does not have: it reads the files, variables and the command that Zoo reads, calls the model
 * and the tools as Zoo does, and prints its events. It refuses what Zoo would not accept.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"

const print = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)
const fail = (content) => {
  print({ type: "error", id: 1, content })
  process.exit(1)
}

const { values } = parseArgs({
  options: {
    print: { type: "boolean" },
    "output-format": { type: "string" },
    "stdin-prompt-stream": { type: "boolean" },
    "exit-on-error": { type: "boolean" },
    provider: { type: "string" },
    model: { type: "string" },
    mode: { type: "string" },
    workspace: { type: "string" }
  }
})
const { HOME, OPENAI_API_KEY: key, ROO_CLI_ROOT, ROO_EXTENSION_PATH, ROO_RIPGREP_PATH } = process.env
for (const path of [ROO_CLI_ROOT, ROO_EXTENSION_PATH, ROO_RIPGREP_PATH]) if (!existsSync(path)) fail(`no ${path}`)
// It starts the servers that its workspace configures.
if (readdirSync(values.workspace).length > 0) fail("the workspace is not empty")

const settings = join(HOME, ".vscode-mock/global-storage/settings")
const { review } = JSON.parse(readFileSync(join(settings, "mcp_settings.json"), "utf8")).mcpServers
const { customModes } = JSON.parse(readFileSync(join(settings, "custom_modes.yaml"), "utf8"))
const mode = customModes.find(({ slug }) => slug === values.mode)
if (mode === undefined) fail(`no mode ${values.mode}`)

const session = {}
const rpc = async (method, params) => {
  const response = await fetch(review.url, {
    method: "POST",
    headers: {
      ...review.headers,
      ...session,
      "content-type": "application/json",
      accept: "application/json, text/event-stream"
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
  })
  const id = response.headers.get("mcp-session-id")
  if (id !== null) session["mcp-session-id"] = id
  const text = await response.text()
  return JSON.parse(/^data: ?(.*)$/m.exec(text)?.[1] ?? text).result
}

let line = ""
for await (const chunk of process.stdin) line += chunk
const { command, configuration, prompt, requestId } = JSON.parse(line)
if (command !== "start") fail(`unknown command ${command}`)
print({ type: "system", subtype: "init", schemaVersion: 1, protocol: "roo-cli-stream", capabilities: [] })
print({ type: "control", subtype: "ack", requestId, command, taskId: "t", code: "accepted" })

const initialised = await rpc("initialize", {
  protocolVersion: "2024-11-05",
  capabilities: {},
  clientInfo: { name: "zoo", version: "0" }
})
if (initialised === undefined) fail("the tool server refused the handshake")
const listed = (await rpc("tools/list", {})).tools
const prefix = "mcp--review--"
const tools = listed
  // A tool that is not permitted waits for an approval without end.
  .filter(({ name }) => review.alwaysAllow.includes(name))
  .map(({ description, inputSchema, name }) => ({
    type: "function",
    name: `${prefix}${name}`,
    description,
    parameters: inputSchema
  }))

const input = [
  { role: "developer", content: mode.roleDefinition },
  { role: "user", content: prompt }
]
for (let id = 2; ; id++) {
  const response = await fetch(`${configuration.openAiNativeBaseUrl}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: values.model, input, tools, stream: false, store: false })
  })
  const reply = await response.json()
  if (!response.ok) fail(`Failed to connect to Responses API: ${response.status} ${reply.error?.message}`)
  const calls = reply.output.filter(({ type }) => type === "function_call")
  for (const { arguments: given, call_id, name, type } of calls) {
    const result = await rpc("tools/call", { name: name.slice(prefix.length), arguments: JSON.parse(given) })
    const output = result.content[0].text
    print({ type: "tool_result", id, subtype: "mcp", tool_result: { name: "mcp_server", output } })
    input.push({ type, call_id, name, arguments: given }, { type: "function_call_output", call_id, output })
  }
  if (calls.length > 0) continue
  print({ type: "assistant", id, content: "Done.", done: true })
  print({ type: "result", id, done: true, success: true })
  print({ type: "control", subtype: "done", requestId, code: "task_completed", done: true })
  break
}

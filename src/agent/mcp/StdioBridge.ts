/**
 * Program for agents that speak MCP over stdio only: it forwards each message to the tool server of its pass, from inside of the sandbox, or as
 * `aicr mcp` to a service. It needs node only, and imports nothing at runtime but node's own modules, because its text is copied into the
 * sandbox (`StdioBridgeText.ts`). If the server has ended the session, it begins another one in its place. The variables `AICR_TOOLS_URL` and `AICR_TOOLS_TOKEN` name the server.
 */
import { createInterface } from "node:readline"

interface Sent {
  readonly id?: string | number
  readonly method?: string
  readonly params?: { readonly name?: string; readonly _meta?: Readonly<Record<string, unknown>> }
}

const versionKey = "io.modelcontextprotocol/protocolVersion"
const { AICR_TOOLS_TOKEN: token = "", AICR_TOOLS_URL: url = "" } = process.env
let session: string | undefined
let version: string | undefined
/** The handshake of the agent, which begins another session. */
let handshake: { readonly sent: Sent; readonly line: string } | undefined

const write = (text: string): void => void process.stdout.write(`${text}\n`)

/** Returns the messages of a response, which is JSON or a stream of events. */
const listMessages = (contentType: string, text: string): ReadonlyArray<string> =>
  contentType.startsWith("text/event-stream")
    ? text.split("\n").flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trim()] : []))
    : text.trim().split("\n")

const toHeaders = ({ method, params }: Sent): Record<string, string> => {
  const own = params?._meta?.[versionKey]
  const headers: Record<string, string> = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream"
  }
  if (typeof own === "string") {
    headers["mcp-protocol-version"] = own
    if (method !== undefined) headers["mcp-method"] = method
    if (params?.name !== undefined) headers["mcp-name"] = params.name
    return headers
  }
  if (session !== undefined) headers["mcp-session-id"] = session
  if (version !== undefined) headers["mcp-protocol-version"] = version
  return headers
}

const post = (sent: Sent, line: string): Promise<Response> =>
  fetch(url, { method: "POST", headers: toHeaders(sent), body: line })

/** Begins another session. */
const begin = async ({ line, sent }: NonNullable<typeof handshake>): Promise<void> => {
  session = undefined
  const response = await post(sent, line)
  session = response.headers.get("mcp-session-id") ?? undefined
  await response.text()
  const ready = { jsonrpc: "2.0", method: "notifications/initialized" }
  await (await post(ready, JSON.stringify(ready))).text()
}

const send = async (sent: Sent, line: string): Promise<Response> => {
  const response = await post(sent, line)
  if (response.status !== 404 || session === undefined || handshake === undefined) return response
  await response.text()
  await begin(handshake)
  return post(sent, line)
}

const forward = async (line: string): Promise<void> => {
  const sent: Sent = JSON.parse(line)
  if (sent.method === "initialize") handshake = { sent, line }
  try {
    const response = await send(sent, line)
    session = response.headers.get("mcp-session-id") ?? session
    const text = await response.text()
    if (!response.ok) throw new Error(`HTTP ${response.status}: ${text.slice(0, 300)}`)
    for (const message of listMessages(response.headers.get("content-type") ?? "", text)) {
      if (message === "") continue
      if (sent.method === "initialize") version = JSON.parse(message).result?.protocolVersion ?? version
      write(message)
    }
  } catch (cause) {
    if (sent.id !== undefined)
      write(JSON.stringify({ jsonrpc: "2.0", id: sent.id, error: { code: -32_603, message: String(cause) } }))
  }
}

/** Ends with standard input, after the response to the last message. */
const forwardAll = async (): Promise<void> => {
  const pending = new Set<Promise<void>>()
  for await (const line of createInterface(process.stdin)) {
    if (line.trim() === "") continue
    const done = forward(line).catch((cause: unknown) => void process.stderr.write(`${String(cause)}\n`))
    pending.add(done)
    void done.finally(() => pending.delete(done))
    // Later messages need the session.
    if (session === undefined) await done
  }
  await Promise.all(pending)
}

export const ended = forwardAll()

/** A client of `/mcp` for tests: single messages by the stateless protocol. */

export interface McpReply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Set for a call that reached its tool. */
  readonly isError: boolean | undefined
  /** Text of the result, or of the error. */
  readonly words: string
  readonly result: Record<string, unknown>
}

const version = "2026-07-28"
let ids = 0

const toReply = async (response: Response): Promise<McpReply> => {
  const text = await response.text()
  const { error, result } = Object(text === "" ? {} : JSON.parse(text.replace(/^data: /, "")))
  const content = Array.isArray(result?.content) ? Object(result.content[0]).text : undefined
  return {
    status: response.status,
    headers: response.headers,
    text,
    isError: result?.isError,
    words: String(content ?? error?.message ?? ""),
    result: Object(result?.structuredContent)
  }
}

/** Sends a body. */
export const postMcp = async (
  url: string,
  token: unknown,
  body: string,
  headers: Readonly<Record<string, string>> = {}
): Promise<McpReply> =>
  toReply(
    await fetch(`${url}/mcp`, {
      method: "POST",
      body,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(token === undefined ? {} : { authorization: `Bearer ${String(token)}` }),
        ...headers
      }
    })
  )

/** Calls a tool. */
export const callMcp = (
  url: string,
  token: unknown,
  name: string,
  input: object,
  headers: Readonly<Record<string, string>> = {}
): Promise<McpReply> => {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {}
  }
  const params = { name, arguments: input, _meta: meta }
  return postMcp(url, token, JSON.stringify({ jsonrpc: "2.0", id: ++ids, method: "tools/call", params }), {
    "mcp-protocol-version": version,
    "mcp-method": "tools/call",
    "mcp-name": name,
    ...headers
  })
}

/** A hostile agent at its model proxy: what it sends reaches no other part of the provider, no other pass, and no limit of the service. */
import { connect } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { findOperation } from "../../../src/agent/proxy/ProxyPaths.ts"
import type { WireFormat } from "../../../src/llm/WireGateway.ts"
import { startFakeModel } from "../../harness/FakeModel.ts"
import type { FakeModel } from "../../harness/FakeModel.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { documentFor, protocols } from "../../llm/Protocols.ts"
import { overSocket } from "../mcp/ToolFixture.ts"
import { requestCorpus } from "../../llm/wire/RequestCorpus.ts"
import { withProxy } from "./ProxyFixture.ts"
import type { ProxyFixture } from "./ProxyFixture.ts"
import { inEnglish } from "../../../src/text/en.ts"

let fake: FakeModel
beforeAll(async () => {
  fake = await startFakeModel({ text: "ok" })
})
afterAll(() => fake.close())

const kinds = {
  "openai-chat": "openai_compatible",
  "openai-responses": "openai_compatible",
  "anthropic-messages": "anthropic",
  gemini: "google_ai_studio"
} satisfies Record<WireFormat, string>

const attack = async (format: WireFormat, use: (fixture: ProxyFixture) => Promise<void>): Promise<number> => {
  const protocol = protocols.find(({ name }) => name === kinds[format])
  if (protocol === undefined) throw new Error(format)
  const before = fake.requests.length
  await withProxy(documentFor(protocol, fake.url), { format }, use)
  return fake.requests.length - before
}

const chat = { messages: [{ role: "user", content: "x" }] }

it.each([
  "/v1/files",
  "/v1/files/file-1/content",
  "/v1/batches",
  "/v1/responses",
  "/v1/chat/completions/",
  "/v1/chat/completions/../../files",
  "//v1/chat/completions",
  "/v1//chat/completions",
  "/v1/%63hat/completions",
  "/v1/chat%2Fcompletions",
  "/V1/chat/completions",
  "/v1/embeddings",
  "/v1/models/../files",
  "/v1/v1/chat/completions",
  "http://169.254.169.254/v1/chat/completions",
  "*"
])("%s is not a path for agents", async (path) => {
  const requests = await attack("openai-chat", async ({ post, get, report }) => {
    for (const { status, text } of [await post(path, chat), await get(path)]) {
      expect(status).toBe(404)
      expect(JSON.parse(text)).toHaveProperty("error.message")
    }
    expect((await report()).notices.map(inEnglish)).toEqual([
      "the agent called a path of the provider that a review does not need"
    ])
  })
  expect(requests).toBe(0)
})

it.each([
  ["gemini", "POST", "/v1beta/models/m:generateContent", "Generate"],
  ["gemini", "POST", "/v1beta/models/a/b:0:generateContent", "Generate"],
  ["gemini", "POST", "/v1beta/models/m:streamGenerateContent", "NotEvents"],
  ["gemini", "POST", "/v1beta/models/m:streamGenerateContent?alt=sse", "Generate"],
  ["gemini", "POST", "/v1beta/models/m:batchGenerateContent", "NotFound"],
  ["gemini", "POST", "/v1beta/cachedContents", "NotFound"],
  ["gemini", "POST", "/upload/v1beta/files", "NotFound"],
  ["gemini", "POST", "/v1beta/models/../files:generateContent", "NotFound"],
  ["anthropic-messages", "POST", "/v1/messages?beta=true", "Generate"],
  ["anthropic-messages", "POST", "/v1/messages/count_tokens?beta=true", "CountTokens"],
  ["anthropic-messages", "POST", "/v1/messages/batches", "NotFound"],
  ["anthropic-messages", "DELETE", "/v1/messages", "NotFound"],
  ["openai-responses", "GET", "/v1/responses/resp_1", "NotFound"],
  ["openai-responses", "GET", "/v1/models", "ListModels"],
  ["openai-chat", "GET", "/models/m", "GetModel"],
  ["openai-chat", "POST", "/constructor", "NotFound"]
] as const)("%s: %s %s is %s", (format, method, url, operation) => {
  const [path = "", query = ""] = url.split("?")
  expect(findOperation(format, method, path, new URLSearchParams(query))._tag).toBe(operation)
})

describe("the provider", () => {
  it("gets no header, query or credential of the agent, and its own key", async () => {
    const requests = await attack("anthropic-messages", async ({ post }) => {
      const headers = {
        "anthropic-beta":
          "context-management-2025-06-27, context-1m-2025-08-07, mcp-client-2025-11-20, files-api-2025-04-14, bad\tbeta, x:y",
        "anthropic-version": "1999-01-01",
        "x-forwarded-for": "1.2.3.4",
        cookie: "a=b",
        host: "attacker.example",
        "x-api-key": "sk-of-the-agent",
        "proxy-authorization": "Basic eDp4"
      }
      expect((await post("/v1/messages?beta=true&key=stolen", chat, headers)).status).toBe(200)
    })
    expect(requests).toBe(1)
    const { headers, path, text } = fake.requests.at(-1) ?? { headers: {}, path: "", text: "" }
    expect(path).toBe("/v1/messages")
    expect(headers).toMatchObject({
      "x-api-key": "test-key-123456",
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "context-management-2025-06-27"
    })
    for (const name of ["cookie", "x-forwarded-for", "authorization", "proxy-authorization"])
      expect(headers).not.toHaveProperty(name)
    expect(JSON.stringify(headers) + text).not.toMatch(/attacker|stolen|of-the-agent/)
    expect(JSON.parse(text)).toMatchObject({ model: "m" })
  })

  it("is not chosen by the agent's model", async () => {
    await attack("gemini", async ({ post }) => {
      const body = { contents: [{ role: "user", parts: [{ text: "x" }] }], model: "expensive" }
      expect((await post("/v1beta/models/expensive:generateContent", body)).status).toBe(200)
    })
    expect(fake.requests.at(-1)?.path).toBe("/v1beta/models/m:generateContent")
    expect(fake.requests.at(-1)?.text).not.toContain("expensive")
  })
})

describe("a request", () => {
  it("needs the token of this pass, whatever else it has", async () => {
    const requests = await attack("openai-chat", async (own) => {
      await attack("openai-chat", async (other) => {
        const tokens = [
          { authorization: "Bearer undefined" },
          { authorization: `Bearer ${other.token}` },
          { "x-api-key": other.token },
          { authorization: `Bearer ${own.token}x` },
          { authorization: own.token },
          {}
        ]
        for (const headers of tokens) {
          const refused = await overSocket(own.proxy.socket, "/v1/chat/completions", {
            body: JSON.stringify(chat),
            headers
          })
          expect(refused.status).toBe(401)
          expect(JSON.parse(refused.text)).toMatchObject({ error: { code: "invalid_api_key" } })
        }
      })
    })
    expect(requests).toBe(0)
  })

  it.each([
    ["no JSON", "{", 400],
    ["a list", "[]", 400],
    ["null", "null", 400],
    ["deep nesting", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`, 400],
    ["millions of values", `[${"0,".repeat(1_000_000)}0]`, 400],
    ["fields of prototypes", '{"messages":[],"__proto__":{"x":1},"constructor":{"prototype":{}}}', 400],
    [
      "wrong types everywhere",
      '{"messages":[null,1,{"role":3,"content":{"a":[]},"tool_calls":7}],"tools":{"x":1},"stream":"yes"}',
      400
    ],
    ["a field twice, of which the last is checked and sent", '{"messages":[{"role":"file"}],"messages":[]}', 200]
  ])("of %s ends with a response", async (_, body, status) => {
    await attack("openai-chat", async ({ proxy, token }) => {
      const headers = { authorization: `Bearer ${token}` }
      const response = await overSocket(proxy.socket, "/v1/chat/completions", { body, headers })
      expect(response.status).toBe(status)
    })
  })

  it.each([
    [
      "that waits to send its body is told to do so once its token is checked",
      "expect: 100-continue\r\n",
      "HTTP/1.1 100"
    ],
    ["for another protocol gets a response in this one", "connection: upgrade\r\nupgrade: websocket\r\n", ""]
  ])("%s", async (_, head, begins) => {
    await attack("openai-chat", async ({ proxy, token }) => {
      const body = JSON.stringify(chat)
      const raw = async (sent: string) => {
        const socket = connect(proxy.socket)
        let text = ""
        socket.on("data", (data) => (text += String(data))).on("error", () => {})
        socket.write(
          `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${sent}\r\n${head}content-length: ${body.length}\r\n\r\n`
        )
        await waitUntil(() => begins === "" || text !== "", { describe: () => text })
        socket.write(body)
        await waitUntil(() => /HTTP\/1\.1 [24]/.test(text), { describe: () => text })
        socket.destroy()
        return text
      }
      expect(await raw("wrong")).toMatch(/^HTTP\/1\.1 401/)
      const right = await raw(token)
      expect(right.startsWith(begins)).toBe(true)
      expect(right).toContain("HTTP/1.1 200")
    })
  })

  it("over the limits of size, headers and number is refused, and the next one is served", async () => {
    await attack("openai-chat", async ({ post, proxy, token }) => {
      const authorization = `authorization: Bearer ${token}\r\n`
      const raw = async (head: string) => {
        const socket = connect(proxy.socket)
        let text = ""
        socket.on("data", (data) => (text += String(data))).on("error", () => {})
        socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n${head}`)
        await waitUntil(() => text.startsWith("HTTP/1.1"), { describe: () => text })
        socket.destroy()
        return text.slice(9, 12)
      }
      expect(await raw(`${authorization}content-length: 99999999999\r\n\r\n`)).toBe("413")
      expect(await raw(`${authorization}${"x-a: y\r\n".repeat(20_000)}`)).toBe("431")
      expect(await raw(`${authorization}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`)).toBe("400")
      expect(await raw(`${authorization}content-length: 1\r\ncontent-length: 2\r\n\r\n`)).toBe("400")
      const idle = Array.from({ length: 8 }, () => {
        const socket = connect(proxy.socket)
        socket.on("error", () => {})
        socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n${authorization}content-length: 10\r\n\r\n{`)
        return socket
      })
      await waitUntil(async () => (await post("/v1/chat/completions", chat)).status === 429, {
        describe: () => "eight requests are in progress"
      })
      for (const socket of idle) socket.destroy()
      await waitUntil(async () => (await post("/v1/chat/completions", chat)).status === 200, {
        describe: () => "no request is in progress"
      })
    })
  })
})

describe("tools of the provider's servers", () => {
  it("are removed from the request, with a notice", async () => {
    await attack("anthropic-messages", async ({ post, report }) => {
      const tools = [
        { name: "read", input_schema: { type: "object" } },
        { type: "web_search_20250305", name: "web_search" },
        { type: "web_fetch_20250910", name: "web_fetch" },
        { type: "code_execution_20250825", name: "code_execution" },
        { type: "mcp_toolset", mcp_server_name: "x" }
      ]
      for (let call = 0; call < 2; call++) expect((await post("/v1/messages", { ...chat, tools })).status).toBe(200)
      expect((await report()).notices.map(inEnglish)).toEqual([
        "removed from the agent's requests, because a review may not use it: web_search_20250305, web_fetch_20250910, code_execution_20250825, mcp_toolset"
      ])
    })
    const sent = JSON.parse(fake.requests.at(-1)?.text ?? "{}")
    expect(sent.tools).toEqual([{ name: "read", input_schema: { type: "object" } }])
  })

  it("may search where the configuration permits it", async () => {
    const protocol = protocols.find(({ name }) => name === "anthropic")
    if (protocol === undefined) throw new Error("anthropic")
    await withProxy(
      documentFor(protocol, fake.url),
      { format: "anthropic-messages", webSearch: true },
      async ({ post }) => {
        const tools = [{ type: "web_search_20250305", name: "web_search" }]
        expect((await post("/v1/messages", { ...chat, tools })).status).toBe(200)
        expect(JSON.parse(fake.requests.at(-1)?.text ?? "{}").tools).toEqual(tools)
      }
    )
  })
})

const paths: Record<WireFormat, string> = {
  "openai-chat": "/v1/chat/completions",
  "openai-responses": "/v1/responses",
  "anthropic-messages": "/v1/messages",
  gemini: "/v1beta/models/m:generateContent"
}

it.each(Object.entries(paths))("%s: no request that the corpus refuses reaches the provider", async (name, path) => {
  const format = name as WireFormat
  const { place, rows } = requestCorpus[format]
  const refused = Object.entries(rows).flatMap(([group, list]) =>
    list.flatMap(([verdict, value]) => (verdict === "refuse" ? [place[group]?.(value)] : []))
  )
  const requests = await attack(format, async ({ post, report }) => {
    for (const body of refused) {
      const { status, text } = await post(path, body)
      expect({ body, status, text }).toEqual({ body, status: 400, text: expect.stringContaining(`(${format})`) })
    }
    expect((await report()).failure).toMatchObject({ message: expect.stringContaining(`(${format})`) })
  })
  expect(refused.length).toBeGreaterThan(30)
  expect(requests).toBe(0)
})

it("images are refused clearly where the request has to be translated, and passed on where not", async () => {
  const inline = { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } }
  const body = { messages: [{ role: "user", content: [inline, { type: "text", text: "x" }] }] }
  expect(
    await attack(
      "anthropic-messages",
      async ({ post }) => void expect((await post("/v1/messages", body)).status).toBe(200)
    )
  ).toBe(1)
  const protocol = protocols.find(({ name }) => name === "openai_compatible")
  if (protocol === undefined) throw new Error("openai_compatible")
  await withProxy(documentFor(protocol, fake.url), { format: "anthropic-messages" }, async ({ post }) => {
    const refused = await post("/v1/messages", body)
    expect(refused.status).toBe(400)
    expect(refused.text).toMatch(/the request contains images, which cannot be translated/)
  })
})

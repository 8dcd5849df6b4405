/** Invalid input over real sockets: the responses of the table, no 5xx, flat memory, and a server that keeps running. */
import { Effect } from "effect"
import * as fc from "fast-check"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { waitUntil } from "../harness/Wait.ts"
import type { Ingress } from "./Ingress.ts"
import { deliver, document, env, forged, hmac, pullRequest, secret, startIngress } from "./Ingress.ts"
import type { RawAnswer } from "./Raw.ts"
import { inEnglish } from "../../src/text/en.ts"
import { open, post, send } from "./Raw.ts"

const mebibyte = 1024 * 1024
const fifty = 50 * mebibyte

const reasonOf = (answer: RawAnswer | undefined): unknown => {
  const body: { readonly reason?: string; readonly code?: string } = JSON.parse(answer?.body ?? "{}")
  return body.code ?? body.reason
}

const isAlive = async (ingress: Ingress): Promise<boolean> =>
  (await deliver(ingress, "pull_request", pullRequest())).body.accepted === true

describe("bad input", () => {
  let ingress: Ingress
  beforeAll(async () => {
    ingress = await startIngress()
  })
  afterAll(() => ingress.stop())

  const text = JSON.stringify(pullRequest())
  const right = hmac(text)
  const github = (signature: Record<string, string>, body = text, event: Record<string, string> = {}) =>
    post(
      "/webhooks/github",
      { "content-length": Buffer.byteLength(body), "x-github-event": "pull_request", ...event, ...signature },
      body
    )
  const signed = (body: string, event: Record<string, string> = {}) =>
    github({ "x-hub-signature-256": `sha256=${hmac(body)}` }, body, event)

  const cases: ReadonlyArray<readonly [string, string, number, string]> = [
    ["no signature", github({}), 401, "invalid_signature"],
    ["an empty signature", github({ "x-hub-signature-256": "" }), 401, "invalid_signature"],
    ["a bare prefix", github({ "x-hub-signature-256": "sha256=" }), 401, "invalid_signature"],
    ["no prefix", github({ "x-hub-signature-256": right }), 401, "invalid_signature"],
    ["a signature cut short", github({ "x-hub-signature-256": `sha256=${right.slice(2)}` }), 401, "invalid_signature"],
    ["a wrong signature", github({ "x-hub-signature-256": `sha256=${hmac("other")}` }), 401, "invalid_signature"],
    ["SHA-1 only", github({ "x-hub-signature": `sha1=${right.slice(0, 40)}` }), 401, "invalid_signature"],
    [
      "the same header right and wrong",
      github({ "x-hub-signature-256": `sha256=${right}\r\nx-hub-signature-256: sha256=${hmac("other")}` }),
      401,
      "invalid_signature"
    ],
    [
      "a right header and a wrong one",
      github({ "x-hub-signature-256": `sha256=${right}`, "x-githost-c-signature-256": "sha256=00" }),
      401,
      "invalid_signature"
    ],
    ["the specification's header alone", github({ "x-githost-c-signature-256": `sha256=${right}` }), 202, ""],
    ["an unsigned body that is not JSON", github({}, "{"), 401, "invalid_signature"],
    ["truncated JSON", signed(text.slice(0, -10)), 400, "invalid_json"],
    ["an empty body", signed(""), 400, "invalid_json"],
    ["control characters", signed('{"a":"\u0000\u0001"}'), 400, "invalid_json"],
    ["nesting 100 000 deep", signed("[".repeat(100_000) + "]".repeat(100_000)), 400, "invalid_json"],
    ["objects nested 1 000 deep", signed('{"a":'.repeat(1000) + "1" + "}".repeat(1000)), 400, "invalid_json"],
    ["unclosed nesting", signed("[".repeat(500_000)), 400, "invalid_json"],
    ["a JSON array", signed("[]"), 400, "invalid_payload"],
    ["null", signed("null"), 400, "invalid_payload"],
    ["no pull request in it", signed("{}"), 400, "invalid_payload"],
    ["a prototype key", signed('{"__proto__":{"repository":{"full_name":"a/b"}}}'), 400, "invalid_payload"],
    [
      "a head that is an option",
      signed(JSON.stringify(pullRequest({ pull: { head: { sha: "--upload-pack=x", ref: "x" } } }))),
      400,
      "invalid_payload"
    ],
    [
      "a branch that is an option",
      signed(JSON.stringify(pullRequest({ pull: { base: { sha: "a".repeat(40), ref: "--output=x" } } }))),
      400,
      "invalid_payload"
    ],
    ["a repository that climbs", signed(JSON.stringify(pullRequest({ repo: "../.." }))), 400, "invalid_payload"],
    ["half a character in a branch", signed(text.replace('"feature"', '"feature\\ud800"')), 400, "invalid_payload"],
    ["a NUL in a title", signed(text.replace("Add a thing", "Add \\u0000")), 400, "invalid_payload"],
    ["no event header", signed(text, { "x-github-event": "" }), 400, "missing_event"],
    ["an unknown event", signed("{}", { "x-github-event": "zzz" }), 202, "unsupported_event"],
    ["a prototype's event", signed("{}", { "x-github-event": "constructor" }), 202, "unsupported_event"],
    ["an unknown action", signed(JSON.stringify(pullRequest({ action: "zzz" }))), 202, "unsupported_action"],
    ["an unknown host", post("/webhooks/bitbucket", {}), 404, "not_found"],
    ["a path that climbs", post("/webhooks/../../etc/passwd", {}), 404, "not_found"],
    ["GET of a webhook", "GET /webhooks/github HTTP/1.1\r\nhost: x\r\n\r\n", 405, "method_not_allowed"],
    ["not HTTP", "\u0016\u0003\u0001\u0002\r\n\r\n", 400, "bad_request"],
    ["a header without end", `GET / HTTP/1.1\r\nx: ${"y".repeat(100_000)}`, 431, "headers_too_large"],
    ["a negative length", post("/webhooks/github", { "content-length": -1 }), 400, "bad_request"],
    [
      "two lengths",
      post("/webhooks/github", { "content-length": "5\r\ncontent-length: 6" }, "hello"),
      400,
      "bad_request"
    ],
    [
      "a length and chunks",
      post("/webhooks/github", { "content-length": 5, "transfer-encoding": "chunked" }, "0\r\n\r\n"),
      400,
      "bad_request"
    ],
    ...["gzip, chunked", "identity, chunked", "xchunked", "chunked, chunked", "identity"].map(
      (encoding): [string, string, number, string] => [
        `the transfer encoding ${encoding}`,
        post("/webhooks/github", { ...forged, "transfer-encoding": encoding }, "0\r\n\r\n"),
        400,
        "bad_request"
      ]
    ),
    [
      "an expectation that nobody meets",
      post("/webhooks/github", { ...forged, "content-length": 5, expect: "200-ok" }),
      417,
      "expectation_failed"
    ],
    ["a bad chunk", post("/webhooks/github", { "transfer-encoding": "chunked" }, "zz\r\n"), 400, "bad_request"],
    ["a declared 26 MiB", post("/webhooks/github", { "content-length": 26 * mebibyte }), 413, "body_too_large"],
    [
      "a declared 26 MiB, asking first",
      post("/webhooks/github", { "content-length": 26 * mebibyte, expect: "100-continue" }),
      413,
      "body_too_large"
    ]
  ]

  for (const [what, bytes, status, reason] of cases) {
    it(`${what}: ${status} ${reason}`, async () => {
      const answer = await send(ingress.port, Buffer.from(bytes, "latin1"))
      assert.strictEqual(answer?.status, status, answer?.body)
      assert.strictEqual(reasonOf(answer) ?? "", reason)
      assert.isNotEmpty(answer?.headers["x-request-id"])
      assert.notInclude(answer?.body ?? "", secret)
    })
  }

  it("every rejected but verified delivery has a record, unverified ones have none", async () => {
    const records = await Effect.runPromise(ingress.receipts.list({ limit: 1000 }))
    const reasons = records.filter(({ decision }) => decision === "rejected").map(({ reason }) => reason)
    assert.sameMembers([...new Set(reasons)], ["invalid_json", "invalid_payload", "missing_event"])
    for (const { rule } of records) if (rule !== undefined) assert.notMatch(inEnglish(rule), /^\W/)
  })

  it("a length larger than the body waits, a smaller one cuts", async () => {
    const longer = open(ingress.port)
    longer.socket.write(post("/webhooks/github", { ...forged, "content-length": 100 }, "short"))
    const shorter = await send(
      ingress.port,
      post("/webhooks/github", { ...forged, "content-length": 2 }, "{}trailing rubbish\r\n\r\n")
    )
    assert.strictEqual(shorter?.status, 400)
    assert.strictEqual(longer.received(), "")
    longer.socket.destroy()
    assert.isTrue(await isAlive(ingress))
  })

  it("an expectation is met with 100 when the body may be sent", async () => {
    const connection = open(ingress.port)
    connection.socket.write(
      post("/webhooks/github", {
        "content-length": Buffer.byteLength(text),
        "x-github-event": "pull_request",
        "x-hub-signature-256": `sha256=${right}`,
        expect: "100-continue"
      })
    )
    await waitUntil(() => connection.received().startsWith("HTTP/1.1 100"), { describe: connection.received })
    connection.socket.write(text)
    assert.strictEqual((await connection.answer)?.status, 202)
    connection.socket.destroy()
  })

  const asking = (path: string, headers: Record<string, string | number>, method = "POST") =>
    post(path, { "content-length": 100, expect: "100-continue", ...headers }).replace(/^POST/, method)
  it.each([
    ["an unknown path", asking("/nothing", forged), 404],
    ["a wrong method", asking("/webhooks/github", forged, "PUT"), 405],
    ["too long a body", asking("/webhooks/github", { ...forged, "content-length": 26 * mebibyte }), 413],
    ["no signature", asking("/webhooks/github", {}), 401],
    ["a signature that is not one", asking("/webhooks/github", { "x-hub-signature-256": "sha256=x" }), 401],
    ["a wrong token", asking("/webhooks/gitlab", { "x-gitlab-token": "wrong" }), 401],
    ["a kind without a trigger", asking("/triggers/p4", { "x-api-key": env.GLOBAL_KEY }), 404],
    ["no key", asking("/triggers/manual", {}), 401],
    ["a wrong key", asking("/triggers/manual", { "x-api-key": "wrong" }), 401],
    ["a body where none is wanted", asking("/healthz", {}, "GET"), 200],
    ["another expectation", asking("/webhooks/github", { ...forged, expect: "200-ok" }), 417]
  ])("asking first with %s is refused without 100", async (_, bytes, status) => {
    const other = await startIngress({
      document: {
        ...document,
        triggers: [...document.triggers, { name: "call", kind: "manual" }],
        server: { auth: { api_key_env: "GLOBAL_KEY" } }
      }
    })
    const connection = open(other.port)
    connection.socket.write(bytes)
    assert.strictEqual((await connection.answer)?.status, status)
    assert.notInclude(connection.received(), "HTTP/1.1 100")
    connection.socket.destroy()
    await other.stop()
  })

  it("random bytes on the socket never take the server down", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
        const connection = open(ingress.port)
        connection.socket.end(bytes)
        const status = (await connection.answer)?.status
        await connection.closed
        assert.isTrue(status === undefined || (status >= 400 && status < 500), String(status))
      }),
      { numRuns: 200 }
    )
    assert.isTrue(await isAlive(ingress))
  })
})

describe("large and slow bodies", () => {
  let ingress: Ingress
  afterEach(() => ingress.stop())

  /** Writes until the server stops reading or `total` is sent; returns how much was taken. */
  const stream = async (port: number, total: number, headers: Record<string, string | number>) => {
    const connection = open(port)
    const chunk = Buffer.alloc(64 * 1024, "a")
    const framed = Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n")])
    connection.socket.write(post("/webhooks/github", { ...forged, ...headers, "transfer-encoding": "chunked" }))
    let sent = 0
    while (sent < total && connection.socket.writable) {
      sent += chunk.length
      if (!connection.socket.write(framed)) {
        await Promise.race([new Promise((resume) => connection.socket.once("drain", resume)), connection.closed])
      }
    }
    const answer = await connection.answer
    connection.socket.destroy()
    return { answer, sent }
  }

  it("a 300 MB stream with a wrong signature is cut off at the limit and memory stays flat", async () => {
    ingress = await startIngress()
    await stream(ingress.port, 30 * mebibyte, {})
    global.gc?.()
    const before = process.memoryUsage.rss()
    let peak = before
    const sampler = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5)
    for (let round = 0; round < 3; round++) {
      const { answer, sent } = await stream(ingress.port, 300 * mebibyte, {})
      assert.strictEqual(answer?.status, 413)
      assert.strictEqual(reasonOf(answer), "body_too_large")
      assert.isBelow(sent, 120 * mebibyte, "the server stopped reading long before the end")
    }
    clearInterval(sampler)
    // Freed memory is returned at the next garbage collection.
    assert.isBelow(peak - before, 3 * fifty)
    assert.isTrue(await isAlive(ingress))
  })

  it("a body at the limit is taken, one byte more is not", async () => {
    ingress = await startIngress({ document: { ...document, server: { webhook_body_limit_mb: 1 } } })
    const frame = JSON.stringify({ ...pullRequest(), filler: "" })
    const filled = (size: number) => frame.replace('"filler":""', `"filler":"${"x".repeat(size - frame.length)}"`)
    assert.strictEqual((await deliver(ingress, "pull_request", filled(mebibyte))).status, 202)
    assert.strictEqual((await deliver(ingress, "pull_request", filled(mebibyte + 1))).status, 413)
  })

  it("26 MiB, signed and all: 413 that the sender gets to read", async () => {
    ingress = await startIngress()
    const body = JSON.stringify({ ...pullRequest(), filler: "x".repeat(26 * mebibyte) })
    const { body: answer, status } = await deliver(ingress, "pull_request", body)
    assert.deepStrictEqual([status, answer.code], [413, "body_too_large"])
  })

  it("large bodies together are bounded too", async () => {
    ingress = await startIngress({ document: { ...document, server: { webhook_body_limit_mb: 100 } } })
    const held = Array.from({ length: 6 }, () => {
      const connection = open(ingress.port)
      connection.socket.write(post("/webhooks/github", { ...forged, "content-length": 99 * mebibyte }))
      connection.socket.write(Buffer.alloc(98 * mebibyte))
      return connection
    })
    const answer = await Promise.race(held.map((connection) => connection.answer))
    assert.deepStrictEqual([answer?.status, reasonOf(answer)], [503, "busy"])
    for (const { socket } of held) socket.destroy()
    await Promise.all(held.map(({ closed }) => closed))
    assert.isTrue(await isAlive(ingress))
  })

  it("slow headers and slow bodies get 408", async () => {
    ingress = await startIngress({ headersTimeoutMillis: 200, requestTimeoutMillis: 400 })
    const slowHeader = open(ingress.port)
    slowHeader.socket.write("POST /webhooks/github HTTP/1.1\r\nhost: x\r\n")
    const slowBody = open(ingress.port)
    slowBody.socket.write(post("/webhooks/github", { ...forged, "content-length": 1000 }, "{"))
    const drip = setInterval(() => slowBody.socket.write(" "), 20)
    for (const connection of [slowHeader, slowBody]) {
      const answer = await connection.answer
      assert.deepStrictEqual([answer?.status, reasonOf(answer)], [408, "request_timeout"])
      assert.isNotEmpty(answer?.headers["x-request-id"])
      await connection.closed
    }
    clearInterval(drip)
    assert.isTrue(await isAlive(ingress))
  })
})

/**
 * Mutated callbacks of every platform, validly signed and not: each gets a response below 500, and memory does not grow.
 * AICR_TEST_CHAT=10000 sends ten mutations for each of its commands instead of 2000 in all.
 */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import type { CallbackReader } from "../../src/chat/ReadConnection.ts"
import { findCallbackReader } from "../../src/chat/ReadConnection.ts"
import { encryptFeishu, feishuHeaders } from "../../demo/DemoChat.ts"
import { encryptWecom, wecomKey, wecomQuery } from "../harness/ChatSigning.ts"
import { feishuButton, feishuMessage } from "../harness/ChatPeople.ts"
import { testSnapshot } from "../harness/TestSnapshot.ts"

const scale = Number(process.env["AICR_TEST_CHAT"] ?? 0)
/** Garbage is collected before the size of the heap is read. */
setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")
const mutations = scale > 0 ? scale * 10 : 2000
const now = 1_700_000_000_000

const wecomCallback = { enabled: true, token: Redacted.make("token"), encoding_aes_key: Redacted.make(wecomKey) }
const feishuCallback = { enabled: true, verification_token: Redacted.make("token"), encrypt_key: Redacted.make("key") }
const connections = {
  lark: { kind: "feishu_app", app_id: "cli_a", callback: feishuCallback },
  corp: { kind: "wecom_app", corp_id: "corp", agent_id: "5", callback: wecomCallback },
  bot: { kind: "wecom_aibot", corp_id: "corp", aibot_id: "bot", callback: wecomCallback }
}
type Reader = Extract<CallbackReader, { readonly _tag: "Reader" }>
const readerOf = (id: string): Reader => {
  const reader = findCallbackReader(testSnapshot({ im: { connections } }, {}), id)
  if (reader._tag !== "Reader") throw new Error(id)
  return reader
}

/** Numbers of a seed, so that a failure can be repeated. */
const makeRandom = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32
  return seed / 2 ** 32
}

const pieces = [
  "",
  "\0",
  "{",
  "}",
  "[",
  "]",
  '"',
  "\\",
  "<",
  ">",
  "]]>",
  "<![CDATA[",
  "<!DOCTYPE a>",
  "&lt;",
  "&#x0;",
  "字"
]
const mutate = (text: string, random: () => number): string => {
  let result = text
  for (let count = 1 + Math.floor(random() * 4); count > 0; count--) {
    const at = Math.floor(random() * result.length)
    const piece = pieces[Math.floor(random() * pieces.length)] ?? ""
    const end = at + Math.floor(random() * 12)
    const repeated = random() < 0.02 ? piece.repeat(5000) : piece
    result = result.slice(0, at) + repeated + (random() < 0.5 ? result.slice(at) : result.slice(end))
  }
  return result
}

const xml = `<?xml version="1.0"?><xml><ToUserName><![CDATA[corp]]></ToUserName><FromUserName><![CDATA[ada]]></FromUserName><CreateTime>1</CreateTime><MsgType><![CDATA[text]]></MsgType><Content><![CDATA[help]]></Content><MsgId>1</MsgId><AgentID>5</AgentID></xml>`
const json = JSON.stringify({
  msgid: "1",
  aibotid: "bot",
  chattype: "group",
  chatid: "g",
  from: { userid: "ada" },
  response_url: "https://qyapi.weixin.qq.com/response?code=1",
  msgtype: "text",
  text: { content: "@aicr help" }
})

const wecomRequest = (outer: (encrypted: string) => string, inner: string, receiver: string, random: () => number) => {
  const encrypted = encryptWecom(wecomKey, mutate(inner, random), receiver)
  const query = wecomQuery("token", encrypted, now / 1000)
  const body = outer(encrypted)
  return {
    method: "POST",
    query,
    headers: {},
    body: Buffer.from(random() < 0.5 ? body : mutate(body, random)),
    now
  } as const
}

/** Requests of a connection. Half of them are signed after the mutation, so that the parsers behind the signature get them. */
const requests = {
  lark: (random: () => number) => {
    const payload = random() < 0.5 ? feishuMessage("m", "help", { eventId: "e" }) : feishuButton("e", "a")
    const plain = mutate(payload.replace("callback-t0ken", "token"), random)
    const whole = JSON.stringify({ encrypt: encryptFeishu("key", plain) })
    const body = random() < 0.5 ? whole : mutate(whole, random)
    const headers = feishuHeaders("key", random() < 0.9 ? body : "", now / 1000)
    return { method: "POST", query: new URLSearchParams(), headers, body: Buffer.from(body), now } as const
  },
  corp: (random: () => number) =>
    wecomRequest((encrypted) => `<xml><Encrypt><![CDATA[${encrypted}]]></Encrypt></xml>`, xml, "corp", random),
  bot: (random: () => number) => wecomRequest((encrypt) => JSON.stringify({ encrypt }), json, "", random)
}

describe("mutated callbacks", { timeout: 600_000 }, () => {
  it.each(["lark", "corp", "bot"] as const)("of %s have an outcome, and leave no memory behind", (id) => {
    const reader = readerOf(id)
    const random = makeRandom(20_261_124)
    const outcomes = new Map<string, number>()
    const heaps: Array<number> = []
    for (let count = 0; count < mutations; count++) {
      const outcome = reader.read(requests[id](random))
      const name = outcome._tag === "Refused" ? outcome.reason : outcome._tag
      outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
      if (count % Math.ceil(mutations / 10) === 0) {
        collect()
        heaps.push(process.memoryUsage().heapUsed)
      }
    }
    // Valid ones get through, so that the mutations reach all of the parser.
    expect([...outcomes.keys()]).toEqual(expect.arrayContaining(["Received", "signature"]))
    const [middle = 0, last = 0] = [heaps[4], heaps.at(-1)]
    expect(last - middle).toBeLessThan(16 * 1024 * 1024)
    process.stderr.write(
      `${id}: ${JSON.stringify(Object.fromEntries(outcomes))}, heap ${Math.round((last - middle) / 1024)} KB\n`
    )
  })
})

/** Every published vector of both platforms. */
import { readFileSync } from "node:fs"
import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { decrypt as decryptFeishu, sign as signFeishu, readFeishuCallback } from "../../src/chat/feishu/Callback.ts"
import { appForm, readWecomCallback } from "../../src/chat/wecom/Callback.ts"
import { decodeKey, decrypt } from "../../src/chat/wecom/Crypt.ts"
import { computeFeishuSignature } from "../../src/outputs/chat/BotHook.ts"

interface WecomVector {
  readonly name: string
  readonly kind?: string
  readonly token: string
  readonly encoding_aes_key: string
  readonly timestamp: string
  readonly nonce: string
  readonly msg_signature: string
  readonly encrypt: string
  readonly configured_corp_id?: string
  readonly expect: { readonly message?: string; readonly receive_id?: string; readonly error?: string }
}

interface FeishuVector {
  readonly name: string
  readonly encrypt_key?: string
  readonly encrypt?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly raw_body?: string
  readonly timestamp?: string
  readonly secret?: string
  readonly expect: {
    readonly plaintext?: string
    readonly ok?: boolean
    readonly decrypted_challenge?: string
    readonly sign?: string
  }
}

const vectors = JSON.parse(readFileSync(new URL("vectors.json", import.meta.url), "utf8")) as {
  readonly wecom: ReadonlyArray<WecomVector>
  readonly feishu: ReadonlyArray<FeishuVector>
}

const read = (vector: WecomVector, method: "GET" | "POST") => {
  const { encrypt, msg_signature, nonce, timestamp } = vector
  const query = new URLSearchParams({ msg_signature, timestamp, nonce })
  if (method === "GET") query.set("echostr", encrypt)
  return readWecomCallback(appForm("218"))(
    {
      method,
      query,
      headers: {},
      body: Buffer.from(`<xml><ToUserName>a</ToUserName><Encrypt><![CDATA[${encrypt}]]></Encrypt></xml>`),
      now: Number(timestamp) * 1000
    },
    {
      token: Redacted.make(vector.token),
      key: Redacted.make(vector.encoding_aes_key),
      receivers: [vector.configured_corp_id ?? vector.expect.receive_id ?? "wx5823bf96d3bd56c7"]
    }
  )
}

describe("vectors of WeCom", () => {
  it.each(vectors.wecom.filter(({ expect: { error } }) => error === undefined))("decrypt: $name", (vector) => {
    const key = decodeKey(Redacted.make(vector.encoding_aes_key))
    expect(key).toBeDefined()
    expect(key === undefined ? undefined : decrypt(key, vector.encrypt)).toEqual({
      message: vector.expect.message,
      receiver: vector.expect.receive_id
    })
  })

  it.each(vectors.wecom.filter(({ kind }) => kind?.startsWith("GET") === true))("challenge: $name", (vector) => {
    expect(read(vector, "GET")).toMatchObject({ _tag: "Challenge", reply: { body: vector.expect.message } })
  })

  it.each(
    vectors.wecom.filter(({ kind, expect: { error } }) => kind?.startsWith("GET") !== true && error === undefined)
  )("message: $name", (vector) => {
    expect(read(vector, "POST")._tag).toBe("Received")
  })

  it.each(vectors.wecom.filter(({ expect: { error } }) => error !== undefined))("$name", (vector) => {
    expect(read(vector, "POST")).toEqual({
      _tag: "Refused",
      reason: vector.expect.error === "receive_id" ? "receiver" : vector.expect.error
    })
  })
})

describe("vectors of Feishu", () => {
  it.each(vectors.feishu.filter(({ expect: { plaintext } }) => plaintext !== undefined))("decrypt: $name", (vector) => {
    expect(decryptFeishu(Redacted.make(vector.encrypt_key ?? ""), vector.encrypt ?? "")).toBe(vector.expect.plaintext)
  })

  it.each(vectors.feishu.filter(({ expect: { ok } }) => ok === true))("signature: $name", (vector) => {
    const headers = Object.fromEntries(
      Object.entries(vector.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
    )
    const timestamp = headers["x-lark-request-timestamp"] ?? ""
    const body = Buffer.from(vector.raw_body ?? "")
    const key = Redacted.make(vector.encrypt_key ?? "")
    expect(signFeishu(key, timestamp, headers["x-lark-request-nonce"] ?? "", body)).toBe(headers["x-lark-signature"])
    const request = {
      method: "POST",
      query: new URLSearchParams(),
      headers,
      body,
      now: Number(timestamp) * 1000
    } as const
    const secrets = { token: Redacted.make("iRdCP2WwXNBXRM3mGLqhrgch3cn0gbT6"), key, receivers: ["cli_a"] }
    const outcome = readFeishuCallback(request, secrets)
    const challenge = vector.expect.decrypted_challenge ?? "5634b122-c042-4634-bc7f-b07a3c3e77ad"
    expect(outcome).toMatchObject({ _tag: "Challenge", reply: { body: JSON.stringify({ challenge }) } })
    const wrong = { ...headers, "x-lark-signature": "0".repeat(64) }
    expect(readFeishuCallback({ ...request, headers: wrong }, secrets)).toEqual({
      _tag: "Refused",
      reason: "signature"
    })
  })

  it.each(vectors.feishu.filter(({ expect: { sign } }) => sign !== undefined))("$name", (vector) => {
    const { expect: expected, secret = "", timestamp } = vector
    expect(computeFeishuSignature(Redacted.make(secret), Number(timestamp))).toBe(expected.sign)
  })
})

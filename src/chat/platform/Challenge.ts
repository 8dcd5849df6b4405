/** Verifies the address of a callback as its platform does when an administrator enters it. */
import { createCipheriv, createHash, randomBytes } from "node:crypto"
import { Effect, Redacted } from "effect"
import { request } from "undici"
import { CheckFailed } from "./CheckFailed.ts"
import { parseJson, textAt } from "./ReadJson.ts"
import { readBounded, throughProxy } from "../../network/ThroughProxy.ts"
import { decodeKey, sign } from "../wecom/Crypt.ts"

interface Credentials {
  readonly token: Redacted.Redacted
  readonly key: Redacted.Redacted
}

const timeoutMillis = 10_000
const maxResponseBytes = 64 * 1024

const fail = (message: string) => new CheckFailed({ message })

const meanings: ReadonlyMap<number, string> = new Map([
  [401, "the service refuses the verification: its credentials of the callback differ, or its clock"],
  [404, "the service has no connection with this id, or another server responds"],
  [503, "the connection or its callback is disabled in the service, or the service is starting"]
])

const call = (url: string, body: string | undefined): Effect.Effect<string, CheckFailed> =>
  Effect.tryPromise({
    try: async () => {
      const response = await request(url, {
        method: body === undefined ? "GET" : "POST",
        ...(body === undefined ? {} : { body, headers: { "content-type": "application/json" } }),
        signal: AbortSignal.timeout(timeoutMillis),
        ...throughProxy(url)
      })
      return { status: response.statusCode, text: await readBounded(response.body, maxResponseBytes) }
    },
    catch: () => fail("the address of the callback did not respond; check server.base_url, DNS and the proxy")
  }).pipe(
    Effect.flatMap(({ status, text }) =>
      status === 200
        ? Effect.succeed(text)
        : Effect.fail(fail(`it returned ${status}: ${meanings.get(status) ?? "another server responds"}`))
    )
  )

const expectText = (received: string | undefined, sent: string) =>
  received === sent ? Effect.void : Effect.fail(fail("it returned another text than the one to verify"))

/** The service decrypts and verifies it, so that both credentials are checked. */
export const challengeFeishu = (url: string, { key, token }: Credentials): Effect.Effect<void, CheckFailed> => {
  const challenge = randomBytes(16).toString("hex")
  const payload = JSON.stringify({ type: "url_verification", token: Redacted.value(token), challenge })
  const iv = randomBytes(16)
  const cipher = createCipheriv("aes-256-cbc", createHash("sha256").update(Redacted.value(key)).digest(), iv)
  const encrypt = Buffer.concat([iv, cipher.update(payload), cipher.final()]).toString("base64")
  return Effect.flatMap(call(url, JSON.stringify({ encrypt })), (text) =>
    expectText(textAt(parseJson(text), ["challenge"]), challenge)
  )
}

/** Encrypts as the platform does: random bytes, length, message and receiver, padded to 32 bytes. */
const encrypt = (key: Buffer, message: string, receiver: string): string => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(Buffer.byteLength(message))
  const plain = Buffer.concat([randomBytes(16), length, Buffer.from(message), Buffer.from(receiver)])
  const padding = 32 - (plain.length % 32)
  const cipher = createCipheriv("aes-256-cbc", key, key.subarray(0, 16)).setAutoPadding(false)
  return Buffer.concat([
    cipher.update(Buffer.concat([plain, Buffer.alloc(padding, padding)])),
    cipher.final()
  ]).toString("base64")
}

export const challengeWecom = (
  url: string,
  { key, now, receiver, token }: Credentials & { readonly receiver: string; readonly now: number }
): Effect.Effect<void, CheckFailed> => {
  const aesKey = decodeKey(key)
  if (aesKey === undefined) return Effect.fail(fail("the EncodingAESKey is not one: it has 43 letters and digits"))
  const text = randomBytes(8).toString("hex")
  const echostr = encrypt(aesKey, text, receiver)
  const [timestamp, nonce] = [String(Math.floor(now / 1000)), randomBytes(8).toString("hex")]
  const query = new URLSearchParams({
    timestamp,
    nonce,
    echostr,
    msg_signature: sign(token, timestamp, nonce, echostr)
  })
  return Effect.flatMap(call(`${url}?${query}`, undefined), (received) => expectText(received, text))
}

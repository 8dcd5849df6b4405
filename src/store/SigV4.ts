/**
 * AWS Signature Version 4, as S3 wants it: a request is signed with everything that says what it does. Pure; proven by the
 * examples that AWS publishes.
 */
import { createHash, createHmac } from "node:crypto"

export interface SigningKey {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly region: string
}

export interface Signable {
  readonly method: string
  /** Its query is to be `queryOf`'s. */
  readonly url: URL
  /** Names in lower case; all of them are signed. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex")
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest()

/** Everything but letters, digits, `-`, `.`, `_` and `~`, in upper case. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

/** Parameters as they are signed and sent. */
export const queryOf = (parameters: Readonly<Record<string, string>>): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join("&")

const pathOf = (url: URL): string =>
  url.pathname
    .split("/")
    .map((part) => encode(decodeURIComponent(part)))
    .join("/")

/** The headers to send, but for `host`, which the client sends by itself. */
export const sign = (
  { body, headers = {}, method, url }: Signable,
  { accessKeyId, region, secretAccessKey }: SigningKey,
  at: Date
): Readonly<Record<string, string>> => {
  const time = at.toISOString().replace(/[-:]|\.\d{3}/g, "")
  const day = time.slice(0, 8)
  const sent = { ...headers, "x-amz-content-sha256": hash(body), "x-amz-date": time }
  const signed = Object.entries({ ...sent, host: url.host }).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const names = signed.map(([name]) => name).join(";")
  const canonical = [
    method,
    pathOf(url),
    url.search.slice(1),
    ...signed.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, " ")}`),
    "",
    names,
    hash(body)
  ].join("\n")
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ["AWS4-HMAC-SHA256", time, scope, hash(canonical)].join("\n")
  const key = [region, "s3", "aws4_request"].reduce(hmac, hmac(`AWS4${secretAccessKey}`, day))
  const signature = hmac(key, text).toString("hex")
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope},SignedHeaders=${names},Signature=${signature}`
  }
}

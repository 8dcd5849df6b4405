/** AWS Signature Version 4 as a server checks it: the signature is computed again from what arrived. */
import { createHash, createHmac } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"

export const awsKeys = { id: "AKIATESTTESTTESTTEST", secret: "test-aws-secret-key-1234567890" }

const hash = (text: string) => createHash("sha256").update(text).digest("hex")
const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest()

/** Returns the reason to refuse the request, or undefined. */
export const signatureProblem = (request: {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
}): string | undefined => {
  const given =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([a-z0-9-]+)\/([a-z0-9]+)\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? ""
    )
  if (given === null) return "no signature"
  const [, id, day = "", region = "", service = "", names = "", signature] = given
  if (id !== awsKeys.id) return "unknown access key"
  if (!names.split(";").includes("host")) return "host is not signed"
  const url = new URL(request.path, "http://fake")
  // S3 signs the path encoded once, all other services twice.
  const decoded = service === "s3" ? decodeURIComponent(url.pathname) : url.pathname
  const uri = decoded.split("/").map(strictEncode).join("/")
  const headers = names.split(";").map((name) => `${name}:${String(request.headers[name] ?? "").trim()}\n`)
  const canonical = [request.method, uri, url.search.slice(1), headers.join(""), names, hash(request.text)].join("\n")
  const date = String(request.headers["x-amz-date"])
  const scope = `${day}/${region}/${service}/aws4_request`
  const key = [day, region, service, "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${awsKeys.secret}`)
  const expected = hmac(key, ["AWS4-HMAC-SHA256", date, scope, hash(canonical)].join("\n")).toString("hex")
  return expected === signature ? undefined : "the signature does not match"
}

const strictEncode = (part: string) =>
  encodeURIComponent(part).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/**
 * Client of a bucket of S3 or of a compatible server, over plain HTTP requests that aws4fetch signs, including the body. Every request is
 * idempotent: a transient failure (429, 5xx, no response) is retried three times within a few seconds. The size of responses is limited. No
 * message contains a key; of an error's XML only code and message are used.
 */
import { createHash } from "node:crypto"
import { AwsV4Signer } from "aws4fetch"
import { Effect, Redacted, Schedule } from "effect"
import { StoreError } from "../../database/StoreError.ts"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason, ReasonTag } from "../../domain/Reason.ts"
import { withoutPeriod } from "../../domain/Text.ts"

export interface BucketOptions {
  readonly bucket: string
  /** Default: the endpoint of AWS for the region. */
  readonly endpoint?: string | undefined
  readonly region?: string | undefined
  readonly accessKeyId: Redacted.Redacted<string>
  readonly secretAccessKey: Redacted.Redacted<string>
  /** Default: true for an explicit endpoint. */
  readonly forcePathStyle?: boolean | undefined
}

interface S3Request {
  readonly method: "DELETE" | "GET" | "HEAD" | "PUT"
  /** Key of the object, which `isObjectKey`; absent for the bucket itself. */
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Maximum size of the response; absent: the response is discarded. */
  readonly maxBytes?: number
}

/** `Absent`: the object does not exist. */
type S3Response = { readonly _tag: "Found"; readonly text: string } | { readonly _tag: "Absent" }

export type Bucket = (operation: string, sent: S3Request) => Effect.Effect<S3Response, StoreError>

const requestMillis = 30_000
const maxErrorBytes = 64 * 1024
const retried = Schedule.exponential("200 millis").pipe(Schedule.jittered, Schedule.upTo({ times: 3 }))

class Failed extends Error {
  readonly why: Reason
  readonly next: S3Next
  readonly passing: boolean
  constructor(why: Reason, next: S3Next, passing: boolean) {
    super()
    this.why = why
    this.next = next
    this.passing = passing
  }
}

/** The bucket cannot be addressed at the configured endpoint. */
class UnusableEndpoint extends Error {
  readonly why: Reason
  constructor(bucket: string, host: string) {
    super()
    this.why = { _tag: "S3BucketNoHost", bucket, host }
  }
}

export const open = (options: BucketOptions): Effect.Effect<Bucket, StoreError> =>
  Effect.try({
    try: () => bucketAt(options),
    catch: (cause) =>
      new StoreError({
        reason: "unavailable",
        operation: "objects.open",
        why: cause instanceof UnusableEndpoint ? cause.why : { _tag: "S3EndpointInvalid" }
      })
  })

const bucketAt = (options: BucketOptions): Bucket => {
  const { bucket, endpoint } = options
  const region = options.region ?? "us-east-1"
  const base = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`)
  const byPath = options.forcePathStyle ?? endpoint !== undefined
  const root = base.pathname.replace(/\/$/, "") + (byPath ? `/${bucket}` : "")
  if (!byPath) {
    const { hostname } = base
    base.hostname = `${bucket}.${hostname}`
    // Assigning an invalid host name changes nothing.
    if (base.hostname === hostname) {
      throw new UnusableEndpoint(bucket, hostname)
    }
  }
  const place = `${base.host}${root}`
  const key = {
    accessKeyId: Redacted.value(options.accessKeyId),
    secretAccessKey: Redacted.value(options.secretAccessKey),
    region,
    service: "s3"
  }

  const send = async (sent: S3Request, signal: AbortSignal): Promise<S3Response> => {
    const { body = "", method } = sent
    const url = new URL(base.origin)
    url.pathname = sent.key === undefined ? root || "/" : `${root}/${sent.key}`
    url.search = new URLSearchParams(sent.query).toString()
    const signer = new AwsV4Signer({
      ...key,
      method,
      url: url.href,
      headers: { "x-amz-content-sha256": createHash("sha256").update(body).digest("hex") }
    })
    const { headers } = await signer.sign()
    // The query must have the signed form: a space is not a plus sign.
    url.search = signer.encodedSearch
    const response = await fetch(url, {
      method,
      headers,
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestMillis)]),
      ...(method === "PUT" ? { body } : {})
    })
    if (response.ok) return { _tag: "Found", text: await read(response, sent.maxBytes ?? 0) }
    const said = method === "HEAD" ? "" : await read(response, maxErrorBytes)
    const code = readField(said, "Code")
    if (response.status === 404 && code !== "NoSuchBucket") return { _tag: "Absent" }
    const why: Reason =
      code === undefined
        ? { _tag: "S3Status", status: response.status }
        : { _tag: "S3Refused", code, why: limited(readField(said, "Message") ?? "") }
    throw new Failed(why, nextSteps[code ?? ""] ?? "S3Next", response.status === 429 || response.status >= 500)
  }

  return (operation, sent) =>
    Effect.tryPromise({
      try: (signal) => send(sent, signal),
      catch: (cause) =>
        cause instanceof Failed ? cause : new Failed(verbatimReason(limited(readReason(cause))), "S3Next", true)
    }).pipe(
      Effect.retry({ while: ({ passing }) => passing, schedule: retried }),
      Effect.mapError(
        ({ next, why }) =>
          new StoreError({
            reason: "unavailable",
            operation,
            why: { _tag: "S3Fails", bucket: place, why, next: { _tag: next } }
          })
      )
    )
}

/** `fetch` puts the actual error into `cause`. */
const readReason = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  const { cause: inner } = cause
  if (inner instanceof AggregateError && inner.message === "") return inner.errors.map(readReason).join("; ")
  return inner instanceof Error ? inner.message : cause.message
}

type S3Next = Extract<ReasonTag, `S3${string}Next` | "S3Next">

const nextSteps: Readonly<Record<string, S3Next>> = {
  AccessDenied: "S3RightsNext",
  InvalidAccessKeyId: "S3KeyNext",
  SignatureDoesNotMatch: "S3SecretNext",
  NoSuchBucket: "S3BucketNext",
  PermanentRedirect: "S3EndpointNext",
  AuthorizationHeaderMalformed: "S3RegionNext",
  RequestTimeTooSkewed: "S3ClockNext"
}

const limited = (text: string): string => withoutPeriod(text.slice(0, 500))

/** Reads the whole body as text; more than `maxBytes` is an error, and nothing beyond it is read. */
const read = async (response: Response, maxBytes: number): Promise<string> => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    // A response without a reader is discarded.
    if (maxBytes === 0) continue
    if (size > maxBytes) throw new Failed({ _tag: "S3TooLarge", bytes: maxBytes }, "S3Next", false)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}

/** Returns the text of the first element of this name. */
export const readField = (xml: string, name: string): string | undefined => readFields(xml, name)[0]

/** Returns the texts of all elements of this name without child elements. */
export const readFields = (xml: string, name: string): ReadonlyArray<string> =>
  elements(xml, name)
    .filter((content) => !content.includes("<"))
    .map(unescape)

/**
 * Returns the content of all elements of this name, from each end tag back to the previous start tag. One pass, also over tags without a
 * partner.
 */
export const elements = (xml: string, name: string): ReadonlyArray<string> => {
  const [startTag, endTag] = [`<${name}>`, `</${name}>`]
  const parts = xml.split(endTag)
  return parts.slice(0, -1).flatMap((part) => {
    const start = part.lastIndexOf(startTag)
    return start === -1 ? [] : [part.slice(start + startTag.length)]
  })
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

const unescape = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? whole
    const point = decimal === undefined ? parseInt(hex, 16) : Number(decimal)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })

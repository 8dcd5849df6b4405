/**
 * A bucket of S3 or of a server that speaks its protocol, over plain HTTP requests that are signed (SigV4.ts). Every request may be
 * repeated: what fails in passing (429, 5xx, no answer) is tried three more times within a few seconds. Answers are read within
 * bounds. No message holds a key; of an error's XML only code and message are taken.
 */
import { Clock, Effect, Redacted, Schedule } from "effect"
import { queryOf, sign } from "./SigV4.ts"
import { StoreError } from "./StoreError.ts"

export interface BucketOptions {
  readonly bucket: string
  /** Left out: AWS's for the region. */
  readonly endpoint?: string | undefined
  readonly region?: string | undefined
  readonly accessKeyId: Redacted.Redacted<string>
  readonly secretAccessKey: Redacted.Redacted<string>
  /** Left out: buckets are addressed by path at an endpoint that is given. */
  readonly forcePathStyle?: boolean | undefined
}

export interface Asked {
  readonly method: "DELETE" | "GET" | "HEAD" | "PUT"
  /** Of the object; left out for the bucket itself. */
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: string
  /** An answer with more is an error; one that nobody reads is left out. */
  readonly maxBytes?: number
}

/** `absent`: there is no such object. */
export type Answer = { readonly _tag: "Found"; readonly text: string } | { readonly _tag: "Absent" }

export type Bucket = (operation: string, asked: Asked) => Effect.Effect<Answer, StoreError>

const patienceMillis = 30_000
const maxErrorBytes = 64 * 1024
const retried = Schedule.exponential("200 millis").pipe(Schedule.jittered, Schedule.upTo({ times: 3 }))

class Failed extends Error {
  readonly passing: boolean
  constructor(message: string, passing: boolean) {
    super(message)
    this.passing = passing
  }
}

export const open = (options: BucketOptions): Effect.Effect<Bucket, StoreError> =>
  Effect.try({
    try: () => bucketAt(options),
    catch: () =>
      new StoreError({
        reason: "unavailable",
        operation: "objects.open",
        message: "storage.object.s3: the endpoint is no address; write it as https://s3.example.com"
      })
  })

const bucketAt = (options: BucketOptions): Bucket => {
  const { bucket, endpoint } = options
  const region = options.region ?? "us-east-1"
  const base = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`)
  const byPath = options.forcePathStyle ?? endpoint !== undefined
  const root = base.pathname.replace(/\/$/, "") + (byPath ? `/${bucket}` : "")
  if (!byPath) base.hostname = `${bucket}.${base.hostname}`
  const place = `S3 ${base.host}${root}`
  const key = {
    accessKeyId: Redacted.value(options.accessKeyId),
    secretAccessKey: Redacted.value(options.secretAccessKey),
    region
  }

  const send = async (asked: Asked, now: number, signal: AbortSignal): Promise<Answer> => {
    const { body = "", method } = asked
    const url = new URL(base.origin)
    url.pathname =
      asked.key === undefined ? root || "/" : `${root}/${asked.key.split("/").map(encodeURIComponent).join("/")}`
    url.search = queryOf(asked.query ?? {})
    const response = await fetch(url, {
      method,
      headers: sign({ method, url, body }, key, new Date(now)),
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMillis)]),
      ...(method === "PUT" ? { body } : {})
    })
    if (response.ok) return { _tag: "Found", text: await read(response, asked.maxBytes ?? 0) }
    const said = method === "HEAD" ? "" : await read(response, maxErrorBytes)
    const code = fieldOf(said, "Code")
    if (response.status === 404 && code !== "NoSuchBucket") return { _tag: "Absent" }
    const why = code === undefined ? `status ${response.status}` : `${code}, ${fieldOf(said, "Message") ?? ""}`
    throw new Failed(withRemedy(why, code), response.status === 429 || response.status >= 500)
  }

  return (operation, asked) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.tryPromise({
        try: (signal) => send(asked, now, signal),
        catch: (cause) => (cause instanceof Failed ? cause : new Failed(withRemedy(reasonOf(cause), undefined), true))
      })
    ).pipe(
      Effect.retry({ while: ({ passing }) => passing, schedule: retried }),
      Effect.mapError(
        ({ message }) => new StoreError({ reason: "unavailable", operation, message: `${place}: ${message}` })
      )
    )
}

/** `fetch` hides what happened in a cause. */
const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  const { cause: inner } = cause
  if (inner instanceof AggregateError && inner.message === "") return inner.errors.map(reasonOf).join("; ")
  return inner instanceof Error ? inner.message : cause.message
}

const remedies: Readonly<Record<string, string>> = {
  AccessDenied: "Give this access key the right to list, read, write and delete objects of the bucket",
  InvalidAccessKeyId: "Check the variable of storage.object.s3.access_key_id_env",
  SignatureDoesNotMatch: "Check the variable of storage.object.s3.secret_access_key_env",
  NoSuchBucket: "Create the bucket, or name another one in storage.object.s3.bucket",
  PermanentRedirect: "Check storage.object.s3.region_env and endpoint_url_env",
  AuthorizationHeaderMalformed: "Check storage.object.s3.region_env",
  RequestTimeTooSkewed: "Set the clock of this machine"
}

const withRemedy = (why: string, code: string | undefined): string =>
  `${why.slice(0, 500)}. ${(code === undefined ? undefined : remedies[code]) ?? "Check storage.object.s3 and that it can be reached"}.`

/** The whole body as text; more than `maxBytes` is an error, and nothing beyond it is read. */
const read = async (response: Response, maxBytes: number): Promise<string> => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    // An answer that nobody asked for is let go.
    if (maxBytes === 0) continue
    if (size > maxBytes) throw new Failed(`the answer has more than ${maxBytes} bytes`, false)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}

/** The text of the first element of this name. */
export const fieldOf = (xml: string, name: string): string | undefined => fieldsOf(xml, name)[0]

/** The texts of all elements of this name. */
export const fieldsOf = (xml: string, name: string): ReadonlyArray<string> =>
  Array.from(xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g")), ([, text = ""]) => unescape(text))

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

const unescape = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? whole
    const point = decimal === undefined ? parseInt(hex, 16) : Number(decimal)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })

/**
 * A small S3: objects of one bucket by path, lists in pages, and every signature verified against the request. A test
 * sets the faults.
 */
import { createServer } from "node:http"
import type { IncomingMessage } from "node:http"
import { createHash } from "node:crypto"
import { awsKeys, signatureProblem } from "./FakeModelSigV4.ts"

export interface FakeS3 extends AsyncDisposable {
  readonly url: string
  readonly objects: Map<string, string>
  /** Method and path with query, in order. */
  readonly requests: Array<string>
  /** Regions that the signatures are for, in order. */
  readonly regions: Array<string>
  /** Replaces the response of the server where it returns one. */
  fault: (method: string, path: string) => { readonly status: number; readonly body: string } | undefined
}

export const s3Keys = awsKeys

/** Keys and folders of one page of a list. */
const pageSize = 3
/** Tokens are opaque: this one has every character that a query encodes in its own way. */
const tokenStart = "1/b+c=* (~!')&é"

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString("utf8")
}

const xml = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
const error = (code: string, message: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${xml(message)}</Message><AWSAccessKeyId>${awsKeys.id}</AWSAccessKeyId></Error>`

/** Lists the entries below a prefix, in order: keys, and with a delimiter the folders. */
const listed = (objects: ReadonlyMap<string, string>, query: URLSearchParams): string => {
  const prefix = query.get("prefix") ?? ""
  const flat = query.get("delimiter") === "/"
  const entries = new Set(
    [...objects.keys()]
      .filter((key) => key.startsWith(prefix))
      .map((key) => {
        const slash = flat ? key.indexOf("/", prefix.length) : -1
        return slash === -1 ? key : key.slice(0, slash + 1)
      })
      .toSorted()
  )
  const from = Number(query.get("continuation-token")?.slice(tokenStart.length) ?? 0)
  const page = [...entries].slice(from, from + pageSize)
  const more = from + pageSize < entries.size
  const shown = page.map((one) =>
    one.endsWith("/")
      ? `<CommonPrefixes><Prefix>${xml(one)}</Prefix></CommonPrefixes>`
      : `<Contents><Key>${xml(one)}</Key><Size>1</Size></Contents>`
  )
  return `<?xml version="1.0"?><ListBucketResult><Name>evidence</Name><Prefix>${xml(prefix)}</Prefix>${shown.join("\n")}<IsTruncated>${more}</IsTruncated>${more ? `<NextContinuationToken>${xml(`${tokenStart}${from + pageSize}`)}</NextContinuationToken>` : ""}</ListBucketResult>`
}

export const startFakeS3 = async (bucket = "evidence"): Promise<FakeS3> => {
  const objects = new Map<string, string>()
  const requests: Array<string> = []
  const regions: Array<string> = []
  const server = createServer(async (request, response) => {
    const text = await bodyOf(request)
    const { method = "", url: path = "" } = request
    requests.push(`${method} ${path}`)
    regions.push(/Credential=[^/]*\/\d+\/([^/]*)\//.exec(request.headers.authorization ?? "")?.[1] ?? "")
    const answer = (status: number, body = ""): void => void response.writeHead(status).end(body)
    const fault = fake.fault(method, path)
    if (fault !== undefined) return answer(fault.status, fault.body)
    const problem = signatureProblem({ method, path, headers: request.headers, text })
    if (problem !== undefined) return answer(403, error("SignatureDoesNotMatch", problem))
    if (request.headers["x-amz-content-sha256"] !== createHash("sha256").update(text).digest("hex"))
      return answer(400, error("XAmzContentSHA256Mismatch", "the body is another one"))
    const url = new URL(path, "http://fake")
    const [, named, ...parts] = decodeURIComponent(url.pathname).split("/")
    if (named !== bucket) return answer(404, error("NoSuchBucket", "The specified bucket does not exist"))
    const key = parts.join("/")
    if (key === "") return answer(200, listed(objects, url.searchParams))
    const found = objects.get(key)
    switch (method) {
      case "PUT":
        objects.set(key, text)
        return answer(200)
      case "DELETE":
        objects.delete(key)
        return answer(204)
      default:
        return found === undefined ? answer(404, error("NoSuchKey", "There is none")) : answer(200, found)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = address !== null && typeof address === "object" ? address.port : 0
  const fake: FakeS3 = {
    url: `http://127.0.0.1:${port}`,
    objects,
    requests,
    regions,
    fault: () => undefined,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
  return fake
}

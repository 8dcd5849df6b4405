/** Serves the dashboard while login is enabled: its page for every path below `/dashboard`, its assets, and the documents. */
import { randomBytes } from "node:crypto"
import { howToTurnOn, readAdminCredentials } from "../admin/AdminCredentials.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import type { Asset, DashboardFiles } from "./DashboardFiles.ts"
import { loadDashboardFiles } from "./DashboardFiles.ts"
import type { IngressResponse } from "./Responses.ts"
import { escapeHtml } from "../domain/EscapeHtml.ts"
import { notFound, text } from "./Responses.ts"

const common = { "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" }

/** Only own scripts, styles and requests. The nonce is for the style elements that the editor adds. */
const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'"
  ].join("; ")

const notBuilt = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>aicr</title>
<h1>The dashboard is not built</h1>
<p>Run this command in the folder of the program and load this page again:</p>
<pre>npm ci &amp;&amp; node src/dashboard/Build.mjs</pre>
</html>
`

/** Describes what the dashboard needs. */
const describeLogin = ({ document: { admin } }: Snapshot): string =>
  `To open the dashboard, set the environment variables ${admin.username_env} and ${admin.password_hash_env ?? admin.password_env} of the service and start it again.`

/** Returns the page for a browser while login is not enabled. */
const turnedOff = (snapshot: Snapshot): IngressResponse =>
  text(
    404,
    "text/html; charset=utf-8",
    `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>aicr</title>
<h1>aicr runs; login is not enabled</h1>
<p>${escapeHtml(describeLogin(snapshot))}</p>
</html>
`,
    { ...common, "content-security-policy": "default-src 'none'", "cache-control": "no-store" }
  )

const page = (files: DashboardFiles | undefined, prefix: string): IngressResponse => {
  const nonce = randomBytes(18).toString("base64")
  const body = files?.page
    .replaceAll("./assets/", `${escapeHtml(prefix)}/dashboard/assets/`)
    .replaceAll("%PREFIX%", escapeHtml(prefix))
    .replaceAll("%NONCE%", nonce)
  return text(files === undefined ? 503 : 200, "text/html; charset=utf-8", body ?? notBuilt, {
    ...common,
    "content-security-policy": policy(nonce),
    "cache-control": "no-store"
  })
}

/** Returns whether the client accepts the encoding: it names it without the weight 0. */
const accepts = (header: string, encoding: string): boolean =>
  header
    .split(",")
    .map((part) => part.trim().split(";"))
    .some(([name, weight = ""]) => name?.trim() === encoding && !/^\s*q=0(?:\.0*)?\s*$/.test(weight))

/** The name of an asset contains a hash of the content. */
const assetHeaders = { "cache-control": "public, max-age=31536000, immutable" }
/** Pages without scripts and requests. */
const documentHeaders = {
  "cache-control": "no-cache",
  "content-security-policy":
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

const respondWith = (
  found: Asset | undefined,
  encodings: string,
  headers: Readonly<Record<string, string>>
): IngressResponse => {
  if (found === undefined) return notFound()
  const { br, contentType, gzip, plain } = found
  const [bytes, encoding] =
    br !== undefined && accepts(encodings, "br")
      ? [br, "br"]
      : gzip !== undefined && accepts(encodings, "gzip")
        ? [gzip, "gzip"]
        : [plain, undefined]
  return {
    ...text(200, contentType, "", {
      ...common,
      ...headers,
      vary: "accept-encoding",
      ...(encoding === undefined ? undefined : { "content-encoding": encoding })
    }),
    bytes
  }
}

const assetPath = "/assets/"
const documentPath = "/docs/"

export class Dashboard {
  readonly #onFailure: (error: unknown) => void
  readonly #load: typeof loadDashboardFiles
  #mayBuild = true
  #files: Promise<DashboardFiles | undefined> | undefined

  constructor(onFailure: (error: unknown) => void, load = loadDashboardFiles) {
    this.#onFailure = onFailure
    this.#load = load
  }

  /** Loads the files. The first call builds them if that is necessary; later ones, which anyone may cause after a failed build, do not. */
  prepare(): Promise<DashboardFiles | undefined> {
    this.#files ??= this.#loadOnce().catch((error: unknown) => {
      this.#onFailure(error)
      return undefined
    })
    return this.#files
  }

  #loadOnce(): Promise<DashboardFiles | undefined> {
    const mayBuild = this.#mayBuild
    this.#mayBuild = false
    return this.#load(this.#onFailure, mayBuild)
  }

  /** `path` is below `/dashboard`. */
  async respond(
    snapshot: Snapshot,
    prefix: string,
    path: string,
    {
      accept = "",
      "accept-encoding": encodings = ""
    }: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  ): Promise<IngressResponse> {
    if (readAdminCredentials(snapshot) === undefined)
      return String(accept).includes("text/html") ? turnedOff(snapshot) : notFound(howToTurnOn(snapshot))
    const files = await this.prepare()
    // Files that appear later, from a build by hand, are found by the next request.
    if (files === undefined) this.#files = undefined
    const encoding = String(encodings)
    if (path.startsWith(assetPath))
      return respondWith(files?.assets.get(path.slice(assetPath.length)), encoding, assetHeaders)
    if (path.startsWith(documentPath))
      return respondWith((await files?.documents())?.get(path.slice(documentPath.length)), encoding, documentHeaders)
    return page(files, prefix)
  }
}

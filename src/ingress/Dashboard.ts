/** Serves the static page of the dashboard while login is enabled. */
import { readAdminCredentials, howToTurnOn } from "../admin/AdminCredentials.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import type { IngressResponse } from "./Responses.ts"
import { notFound, text } from "./Responses.ts"

const headers = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache"
}

const page = (prefix: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>aicr</title>
<meta name="color-scheme" content="light dark">
<style>
  body { font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; margin: 0; background: #f6f7f9; color: #1c2128 }
  main { max-width: 40rem; margin: 4rem auto; padding: 1.5rem 2rem; background: #fff; border: 1px solid #dde2e8; border-radius: 8px }
  h1 { font-weight: 600; margin: 0 } p { color: #5f6b7a } dl { margin: 0 } dt { font-weight: 600; margin-top: .8rem } dd { margin: 0; color: #5f6b7a }
  a { color: #2f6fdb } code { background: #eef0f3; padding: 0 .3em; border-radius: 4px }
  @media (prefers-color-scheme: dark) {
    body { background: #0f1318; color: #e4e8ee } main { background: #171c23; border-color: #2a323c }
    p, dd { color: #94a0af } a { color: #76a9ff } code { background: #222933 }
  }
</style>
<main>
<h1>aicr</h1>
<p>This service reviews code changes and publishes what it finds on the pull request.</p>
<dl>
  <dt><a href="${prefix}/readyz">Is it ready?</a></dt>
  <dd>Configuration, record store, queue, and what else this node needs.</dd>
  <dt><a href="${prefix}/metrics">Metrics</a></dt>
  <dd>In Prometheus format.</dd>
  <dt><code>${prefix}/api/admin</code></dt>
  <dd>What waits and runs, and what became of each delivery, for programs: see <a href="${prefix}/api/docs">its endpoints</a>.</dd>
</dl>
</main>
</html>
`

export const dashboard = (snapshot: Snapshot, prefix: string): IngressResponse =>
  readAdminCredentials(snapshot) === undefined
    ? notFound(howToTurnOn(snapshot))
    : text(200, "text/html; charset=utf-8", page(prefix), headers)

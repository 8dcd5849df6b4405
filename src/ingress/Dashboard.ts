/** The dashboard's shell: a static page, served only while somebody can log in. */
import type { AdminConfig } from "../config/schema/Admin.ts"
import type { Answer } from "./Answers.ts"
import { notFound, text } from "./Answers.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/** A user name, and a password or its hash, as literals or in the named variables. */
export const hasAdminCredentials = (admin: AdminConfig, env: Environment): boolean => {
  const isSet = (name: string | undefined) => name !== undefined && (env[name] ?? "") !== ""
  const password =
    admin.password !== undefined ||
    admin.password_hash !== undefined ||
    isSet(admin.password_hash_env) ||
    isSet(admin.password_env)
  return password && isSet(admin.username_env)
}

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
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem; color: #1c1e21 }
  h1 { font-weight: 600 } a { color: #0b5fad }
  @media (prefers-color-scheme: dark) { body { background: #16181b; color: #e6e8ea } a { color: #7db8f0 } }
</style>
<h1>aicr</h1>
<p>This service reviews code changes and publishes what it finds on the pull request.</p>
<ul>
  <li><a href="${prefix}/readyz">Is it ready?</a> Configuration, record store and queue.</li>
  <li><a href="${prefix}/metrics">Metrics</a> in Prometheus format.</li>
</ul>
</html>
`

export const dashboard = (admin: AdminConfig, env: Environment, prefix: string): Answer =>
  hasAdminCredentials(admin, env)
    ? text(200, "text/html; charset=utf-8", page(prefix), headers)
    : notFound(
        `The dashboard is off: set ${admin.username_env} and ${admin.password_hash_env ?? admin.password_env} to turn it on.`
      )

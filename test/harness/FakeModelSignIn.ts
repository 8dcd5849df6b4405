/** The servers that give short-lived tokens: GitHub for Copilot, Google for Vertex AI. Each token is numbered. */
import { createVerify } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"

export interface SignInAnswer {
  readonly status: number
  readonly body: unknown
}

export interface SignInRules {
  /** Seconds that a token lives. Default: half an hour. */
  readonly lifeSeconds?: number
  /** PEM: assertions of Google service accounts are checked with it. */
  readonly publicKey?: string
  /** API address that Copilot reports. Default: none. */
  readonly api?: string
}

/** Undefined: the path is none of a sign-in. */
export const signInAnswer = (
  request: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly text: string },
  number: number,
  { lifeSeconds = 1800, publicKey, api }: SignInRules
): SignInAnswer | undefined => {
  if (request.path === "/copilot_internal/v2/token") {
    const known = request.headers.authorization === "token test-key-123456"
    if (!known) return { status: 401, body: { message: "Bad credentials" } }
    const expires_at = Math.floor(Date.now() / 1000) + lifeSeconds
    return {
      status: 200,
      body: { token: `copilot-token-${number}`, expires_at, refresh_in: 1500, ...(api ? { endpoints: { api } } : {}) }
    }
  }
  if (request.path !== "/token") return undefined
  const form = new URLSearchParams(request.text)
  const wrong = (error: string) => ({ status: 400, body: { error } })
  if (form.get("grant_type") === "refresh_token") {
    if (form.get("refresh_token") !== "refresh-1") return wrong("invalid_grant")
  } else {
    const [header = "", claims = "", signature = ""] = (form.get("assertion") ?? "").split(".")
    const checked = createVerify("RSA-SHA256").update(`${header}.${claims}`)
    if (publicKey === undefined || !checked.verify(publicKey, signature, "base64url")) return wrong("invalid_grant")
  }
  return {
    status: 200,
    body: { access_token: `google-token-${number}`, expires_in: lifeSeconds, token_type: "Bearer" }
  }
}

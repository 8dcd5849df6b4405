/**
 * GitHub Copilot: a GitHub token (`api_key`) is exchanged for a Copilot token of about half an hour, which goes with chat
 * completions. `base_url` is the REST address of GitHub (default https://api.github.com; for GHE.com its own); the address of the
 * models comes with the token, unless `base_url` is one of *.githubcopilot.com itself.
 *
 * Copilot accepts only requests that name an editor and an integration; `extra_headers` may override the names.
 */
import { Schema } from "effect"
import type { FetchFunction } from "@ai-sdk/provider-utils"
import { openAiCompatible } from "./OpenAiCompatible.ts"
import { toHeaders, requireKey } from "./ProviderRow.ts"
import type { ProviderRow } from "./ProviderRow.ts"
import { shortLivedToken } from "./ShortLivedToken.ts"
import type { Issued, ShortLivedToken } from "./ShortLivedToken.ts"
import { signIn } from "./SignIn.ts"

const github = "https://api.github.com"
const copilot = "https://api.githubcopilot.com"

const editor = {
  "editor-version": "vscode/1.104.0",
  "editor-plugin-version": "copilot-chat/0.31.0",
  "copilot-integration-id": "vscode-chat"
}

const Exchange = Schema.Struct({
  token: Schema.String.check(Schema.isMinLength(1)),
  /** Seconds since the epoch. */
  expires_at: Schema.Number,
  endpoints: Schema.optional(Schema.NullOr(Schema.Struct({ api: Schema.optional(Schema.NullOr(Schema.String)) })))
})

interface CopilotToken extends Issued {
  /** URL of the models, without trailing slash. */
  readonly api: string
}

export const copilotRow: ProviderRow = {
  needsKey: true,
  needsBaseUrl: false,
  connect: (settings, http) => {
    const configured = settings.config.base_url?.replace(/(?<!\/)\/+$/, "")
    const models = configured !== undefined && isCopilotHost(configured) ? configured : undefined
    const root = models === undefined ? (configured ?? github) : github
    const headers = { ...editor, ...toHeaders(settings) }
    const token = shortLivedToken(async (signal): Promise<CopilotToken> => {
      const session = await signIn(
        http.plain,
        `${root}/copilot_internal/v2/token`,
        {
          headers: { ...headers, accept: "application/json", authorization: `token ${requireKey(settings)}` },
          signal
        },
        Exchange,
        "the exchange of the GitHub token for a Copilot token"
      )
      return {
        token: session.token,
        expiresAt: session.expires_at * 1000,
        api: models ?? modelsAddress(session.endpoints?.api ?? undefined, root)
      }
    })
    return openAiCompatible(settings, authorized(http.fetch, token), {
      // Only the path is used; the origin comes with the token.
      baseURL: () => placeholder,
      headers: { ...editor, "openai-intent": "conversation-edits", "x-initiator": "agent" },
      bearer: false
    })
  }
}

const placeholder = "https://copilot.invalid"

/** Adds token and origin to each request. */
const authorized =
  (fetch: FetchFunction, token: ShortLivedToken<CopilotToken>): FetchFunction =>
  (input, init) => {
    const path = String(input instanceof Request ? input.url : input).slice(placeholder.length)
    return token.use((held) => {
      const headers = new Headers(init?.headers)
      headers.set("authorization", `Bearer ${held.token}`)
      return fetch(`${held.api}${path}`, { ...init, headers })
    })
  }

/** The token is sent only to permitted URLs in GitHub's response: over https, or to the configured host itself. */
const modelsAddress = (announced: string | undefined, root: string): string => {
  if (announced === undefined || !URL.canParse(announced)) return root === github ? copilot : root
  const url = new URL(announced)
  return url.protocol === "https:" || url.origin === new URL(root).origin ? announced.replace(/(?<!\/)\/+$/, "") : root
}

const isCopilotHost = (address: string): boolean => {
  const { hostname } = new URL(address)
  return hostname === "githubcopilot.com" || hostname.endsWith(".githubcopilot.com")
}

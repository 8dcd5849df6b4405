/** Finds what is wrong with the webhooks of a repository at Gitea and Forgejo, as text for operators. Pure. */
import { Schema } from "effect"

/** A webhook as the API lists it; its URL is part of `config`. */
export const Hook = Schema.Struct({
  active: Schema.optional(Schema.Boolean),
  events: Schema.optional(Schema.NullOr(Schema.Array(Schema.String))),
  config: Schema.optional(Schema.NullOr(Schema.Record(Schema.String, Schema.String)))
})
export type Hook = typeof Hook.Type

const isOurs = ({ config }: Hook): boolean => {
  const url = config?.["url"] ?? ""
  return URL.canParse(url) && /\/webhooks\/[^/]+\/?$/.test(new URL(url).pathname)
}

/** Hosts list the event of a pull request and of its new commits separately. */
const needed = ["pull_request", "pull_request_sync"]

/** Returns problems of the webhook that points to this service; empty if one is complete. */
export const listWebhookProblems = (hooks: ReadonlyArray<Hook>): ReadonlyArray<string> => {
  const own = hooks.filter(isOurs)
  if (own.length === 0)
    return [
      "no webhook of the repository points to a path /webhooks/…; add one in its settings, unless the organisation or the site has one"
    ]
  const active = own.filter((hook) => hook.active !== false)
  if (active.length === 0) return ["the webhook of the repository is not active; activate it in its settings"]
  const events = new Set(active.flatMap((hook) => hook.events ?? []))
  const lacking = needed.filter((event) => !events.has(event) && ![...events].some((one) => one === "*"))
  return lacking.length === 0
    ? []
    : [`the webhook of the repository lacks the events ${lacking.join(", ")}; select them in its settings`]
}

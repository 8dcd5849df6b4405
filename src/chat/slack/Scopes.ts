/** Scopes that the bot token of a Slack app needs for what the configuration uses it for (docs/chat-slack.md). Pure. */
import type { Document } from "../../config/Document.ts"

type Scope = readonly [name: string, use: string]

const always: ReadonlyArray<Scope> = [
  ["chat:write", "sending"],
  ["app_mentions:read", "commands in channels"],
  ["im:history", "commands in direct conversations"],
  ["channels:history", "search for a message whose response was lost"],
  ["groups:history", "search for a message whose response was lost"]
]

/** `toPerson`: a test message is sent to a person. */
export const neededSlackScopes = (
  { im, outputs }: Pick<Document, "im" | "outputs">,
  connection: string,
  toPerson: boolean
): ReadonlyArray<Scope> => {
  const isDirect = outputs.channels.some((one) => one.connection === connection && one.direct_message === true)
  const kinds = new Set(
    Object.values(im.command_bindings)
      .filter((binding) => binding.enabled === true && binding.connection === connection)
      .flatMap(({ actors = [] }) => actors.map(({ kind }) => kind))
  )
  return [
    ...always,
    ...(isDirect || toPerson ? [["im:write", "direct messages"] as const] : []),
    ...(kinds.has("slack_channel")
      ? [["channels:read", "members of slack_channel"] as const, ["groups:read", "members of slack_channel"] as const]
      : []),
    ...(kinds.has("slack_usergroup") ? [["usergroups:read", "members of slack_usergroup"] as const] : [])
  ]
}

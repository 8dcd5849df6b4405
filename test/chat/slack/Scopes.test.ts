/** Scopes of the bot token of a Slack app, by what the configuration uses it for. */
import { expect, it } from "vitest"
import { neededSlackScopes } from "../../../src/chat/slack/Scopes.ts"
import type { Document } from "../../../src/config/Document.ts"

const always = ["chat:write", "app_mentions:read", "im:history", "channels:history", "groups:history"]
const binding = (kind: string, more: object = {}) => ({
  command_bindings: { team: { enabled: true, connection: "slack", actors: [{ kind, id: "C1" }], ...more } }
})
const direct = (connection: string) => ({ channels: [{ kind: "slack_app", connection, direct_message: true }] })

it.each<readonly [string, { im?: object; outputs?: object; toPerson?: boolean }, ReadonlyArray<string>]>([
  ["commands and messages", {}, []],
  ["direct messages to authors", { outputs: direct("slack") }, ["im:write"]],
  ["direct messages of another connection", { outputs: direct("other") }, []],
  ["a test message to a person", { toPerson: true }, ["im:write"]],
  ["members of channels", { im: binding("slack_channel") }, ["channels:read", "groups:read"]],
  ["members of user groups", { im: binding("slack_usergroup") }, ["usergroups:read"]],
  ["members for a binding that is not enabled", { im: binding("slack_channel", { enabled: false }) }, []],
  ["members for another connection", { im: binding("slack_channel", { connection: "other" }) }, []]
])(
  "%s need their scopes",
  (_, { im = { command_bindings: {} }, outputs = { channels: [] }, toPerson = false }, more) => {
    const document = { im, outputs } as unknown as Pick<Document, "im" | "outputs">
    expect(neededSlackScopes(document, "slack", toPerson).map(([scope]) => scope)).toEqual([...always, ...more])
  }
)

/**
 * Sends messages to webhooks that respond with a status only. Rows of a table. A plain webhook is signed as Standard Webhooks 1.0 describes:
 * its id is that of the operation, so that a receiver recognises a repeated request.
 */
import { createHmac } from "node:crypto"
import { Clock, Duration, Effect, Redacted } from "effect"
import { platforms } from "./BotMessage.ts"
import { findBot, post } from "./BotHook.ts"
import type { MessageSender } from "./MessageSend.ts"

export type HookName = "slack_webhook" | "teams_webhook" | "webhook"

/** Slack accepts a message a second for each webhook, Teams four. */
const chatGap = Duration.seconds(1)
/** Time in which receivers of plain webhooks are expected to remember an id. */
const idMillis = 24 * 60 * 60 * 1000

const prefix = "whsec_"

/** Returns the key of a signing secret, which is written as `whsec_` and Base64; other text is the key itself. */
const signingKey = (secret: string): Buffer =>
  secret.startsWith(prefix) ? Buffer.from(secret.slice(prefix.length), "base64") : Buffer.from(secret)

/** Returns the headers of a signed request. `seconds`: its time since 1970. */
export const standardHeaders = (id: string, seconds: number, secret: Redacted.Redacted | undefined, body: string) => ({
  "webhook-id": id,
  "webhook-timestamp": String(seconds),
  ...(secret === undefined
    ? {}
    : {
        "webhook-signature": `v1,${createHmac("sha256", signingKey(Redacted.value(secret)))
          .update(`${id}.${seconds}.${body}`)
          .digest("base64")}`
      })
})

const chatHook =
  (name: "slack_webhook" | "teams_webhook"): MessageSender =>
  (context) =>
    Effect.map(findBot(context, context.channel), (bot) => ({
      keyMillis: 0,
      send: ({ body, severity, title }) =>
        post(bot, { gap: chatGap, hasCode: false }, platforms[name].message({ title, body, severity }))
    }))

const plainHook: MessageSender = (context) =>
  Effect.map(findBot(context, context.channel), (bot) => ({
    keyMillis: idMillis,
    send: Effect.fnUntraced(function* ({ body, review, severity, title }, key) {
      const now = yield* Clock.currentTimeMillis
      const message = {
        ...platforms.webhook.message({ title, body, severity, review }),
        timestamp: new Date(now).toISOString()
      }
      const headers = (text: string) => standardHeaders(key, Math.floor(now / 1000), bot.secret, text)
      yield* post(bot, { gap: Duration.zero, hasCode: false, headers }, message)
    })
  }))

export const hookSends = {
  slack_webhook: chatHook("slack_webhook"),
  teams_webhook: chatHook("teams_webhook"),
  webhook: plainHook
} as const satisfies Record<HookName, MessageSender>

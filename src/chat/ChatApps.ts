/**
 * APIs of the applications of chat platforms. Connections, channels and directories with the same identity and secret share one API, and
 * with it one token, across configurations.
 */
import { createHash } from "node:crypto"
import { Context, Redacted } from "effect"
import type { ChatConnection } from "../config/schema/Im.ts"
import { makeFeishuApi } from "./feishu/Api.ts"
import type { FeishuApi, FeishuApp } from "./feishu/Api.ts"
import { makeSlackApi } from "./slack/Api.ts"
import type { SlackApi, SlackToken } from "./slack/Api.ts"
import { makeWecomApi } from "./wecom/Api.ts"
import type { WecomApi, WecomApp } from "./wecom/Api.ts"

export { duplicateCheck, keySeconds } from "./wecom/DuplicateCheck.ts"
export type { FeishuApi, FeishuApp, SlackApi, SlackToken, WecomApi, WecomApp }

const urls = {
  feishu: "https://open.feishu.cn",
  wecom: "https://qyapi.weixin.qq.com",
  slack: "https://slack.com/api"
} as const

const maxApis = 1000

/** Returns the platform of a connection. */
export const findPlatform = (kind: ChatConnection["kind"]): keyof typeof urls =>
  kind === "feishu_app" ? "feishu" : kind === "slack_app" ? "slack" : "wecom"

/** Returns the address of a platform's API without a slash at its end. */
export const platformUrl = (platform: keyof typeof urls, configured: string | undefined): string =>
  (configured ?? urls[platform]).replace(/(?<!\/)\/+$/, "")

/** Returns a text that names an identity and its secret, without containing them. */
export const identityKey = (parts: ReadonlyArray<string | number | undefined>, secret?: Redacted.Redacted): string =>
  createHash("sha256")
    .update(JSON.stringify([...parts, secret === undefined ? "" : Redacted.value(secret)]))
    .digest("base64")

/** Returns the value of a key, which is made on its first use. */
export const shared = <A>(values: Map<string, A>, key: string, make: () => A): A => {
  const known = values.get(key)
  if (known !== undefined) return known
  if (values.size >= maxApis) values.clear()
  const made = make()
  values.set(key, made)
  return made
}

const makeApps = () => {
  const feishuApis = new Map<string, FeishuApi>()
  const wecomApis = new Map<string, WecomApi>()
  const slackApis = new Map<string, SlackApi>()
  return {
    slack: (app: SlackToken): SlackApi =>
      shared(slackApis, identityKey([app.baseUrl], app.token), () => makeSlackApi(app)),
    feishu: (app: FeishuApp): FeishuApi =>
      shared(feishuApis, identityKey([app.baseUrl, app.appId], app.secret), () => makeFeishuApi(app)),
    wecom: (app: WecomApp): WecomApi =>
      shared(wecomApis, identityKey([app.baseUrl, app.corpId, app.agentId], app.secret), () => makeWecomApi(app))
  }
}

/** One per process. */
export const ChatApps = Context.Reference<ReturnType<typeof makeApps>>("aicr/chat/ChatApps", { defaultValue: makeApps })

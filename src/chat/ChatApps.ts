/**
 * APIs of the applications of chat platforms. Connections, channels and directories with the same identity and secret share one API, and
 * with it one token, across configurations.
 */
import { createHash } from "node:crypto"
import { Context, Redacted } from "effect"
import { makeFeishuApi } from "./feishu/Api.ts"
import type { FeishuApi, FeishuApp } from "./feishu/Api.ts"
import { makeWecomApi } from "./wecom/Api.ts"
import type { WecomApi, WecomApp } from "./wecom/Api.ts"

export { duplicateCheck, keySeconds } from "./wecom/DuplicateCheck.ts"
export type { FeishuApi, FeishuApp, WecomApi, WecomApp }

const feishuUrl = "https://open.feishu.cn"
const wecomUrl = "https://qyapi.weixin.qq.com"

const maxApis = 1000

/** Returns the address of a platform's API without a slash at its end. */
export const platformUrl = (platform: "feishu" | "wecom", configured: string | undefined): string =>
  (configured ?? (platform === "feishu" ? feishuUrl : wecomUrl)).replace(/(?<!\/)\/+$/, "")

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
  return {
    feishu: (app: FeishuApp): FeishuApi =>
      shared(feishuApis, identityKey([app.baseUrl, app.appId], app.secret), () => makeFeishuApi(app)),
    wecom: (app: WecomApp): WecomApi =>
      shared(wecomApis, identityKey([app.baseUrl, app.corpId, app.agentId], app.secret), () => makeWecomApi(app))
  }
}

/** One per process. */
export const ChatApps = Context.Reference<ReturnType<typeof makeApps>>("aicr/chat/ChatApps", { defaultValue: makeApps })

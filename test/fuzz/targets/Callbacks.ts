/**
 * Callbacks and frames of chat platforms. The first character chooses what is read: a whole callback, without a signature, or what is behind
 * the signature, which members of a chat write.
 */
import { Redacted } from "effect"
import { readFeishuCallback } from "../../../src/chat/feishu/Callback.ts"
import { decodeFrame, encodeFrame, pingFrame } from "../../../src/chat/feishu/Frame.ts"
import { readEvent } from "../../../src/chat/feishu/Messages.ts"
import type { Inbound } from "../../../src/chat/Inbound.ts"
import { readEnvelope } from "../../../src/chat/slack/Messages.ts"
import { parseCommand } from "../../../src/chat/Command.ts"
import { parseJson } from "../../../src/chat/platform/ReadJson.ts"
import { appForm, botForm, readWecomCallback } from "../../../src/chat/wecom/Callback.ts"
import type { CallbackRequest } from "../../../src/chat/CallbackOutcome.ts"
import { wecomKey } from "../../harness/ChatSigning.ts"
import type { FuzzTarget } from "../Target.ts"
import { bytes, ensure, text } from "../Target.ts"

const now = 1_700_000_000_000
const secrets = { token: Redacted.make("token"), key: Redacted.make(wecomKey), receivers: ["corp"] }

const message =
  "<xml><ToUserName>corp</ToUserName><FromUserName><![CDATA[ada]]></FromUserName><CreateTime>1</CreateTime><MsgType>text</MsgType><Content><![CDATA[review app main]]></Content><MsgId>77</MsgId><AgentID>5</AgentID></xml>"
const botMessage = {
  msgid: "m1",
  aibotid: "bot",
  from: { userid: "ada" },
  chattype: "group",
  chatid: "c",
  msgtype: "text",
  text: { content: "@bot queue" }
}
const event = {
  schema: "2.0",
  header: { event_id: "e", event_type: "im.message.receive_v1", token: "token", app_id: "corp", tenant_key: "t" },
  event: {
    sender: { sender_id: { open_id: "ou_1" }, sender_type: "user" },
    message: {
      message_id: "om_1",
      chat_id: "oc_1",
      chat_type: "group",
      message_type: "text",
      content: JSON.stringify({ text: "@_user_1 status 3" }),
      mentions: [{ key: "@_user_1", id: { open_id: "ou_bot" }, name: "bot" }]
    }
  }
}

const mention = {
  type: "event_callback",
  api_app_id: "A1",
  event: { type: "app_mention", user: "U1", text: "<@UBOT> review <http://a.b|a.b> &lt;7", ts: "1.1", channel: "C1" }
}

const unsigned = (input: Uint8Array): void => {
  const request: CallbackRequest = {
    method: "POST",
    query: new URLSearchParams({ timestamp: String(now / 1000), nonce: "n", msg_signature: "0".repeat(40) }),
    headers: { "x-lark-request-timestamp": String(now / 1000), "x-lark-request-nonce": "n" },
    body: input,
    now
  }
  for (const form of [appForm("5"), botForm({ id: "bot", name: "AI Bot" })]) {
    ensure(readWecomCallback(form)(request, secrets)._tag === "Refused", "nothing is accepted without a signature")
  }
  const feishu = readFeishuCallback(request, secrets)
  ensure(feishu._tag !== "Received", "no event is accepted without a signature")
}

const checkInbound = (inbound: Inbound | undefined): void => {
  if (inbound?._tag !== "Message") return
  const parsed = parseCommand(inbound, () => true)
  if (parsed._tag !== "Command") return
  for (const argument of parsed.command.args) {
    ensure(argument.length <= 255 && !argument.startsWith("-"), "an argument is bounded and is not an option")
  }
}

const readers: ReadonlyArray<(input: Uint8Array) => void> = [
  unsigned,
  (input) => checkInbound(appForm("5").read(text(input))),
  (input) => checkInbound(botForm({ id: "bot", name: "AI Bot" }).read(text(input))),
  (input) => {
    const json = parseJson(text(input))
    if (json !== undefined) checkInbound(readEvent(json, "corp"))
  },
  (input) => {
    const frame = decodeFrame(input)
    if (frame === undefined) return
    ensure(frame.headers.length <= 64, "the headers of a frame are bounded")
    ensure(decodeFrame(encodeFrame(frame)) !== undefined, "a frame that was read can be written")
  },
  (input) => {
    const json = parseJson(text(input))
    if (json !== undefined) for (const type of ["events_api", "interactive"]) checkInbound(readEnvelope(type, json))
  }
]

const callbacks: FuzzTarget = {
  name: "callbacks",
  maxBytes: 65_536,
  seeds: () => [
    bytes("0<xml><Encrypt><![CDATA[AAAA]]></Encrypt></xml>"),
    bytes('0{"encrypt":"AAAA"}'),
    bytes('0{"type":"url_verification","token":"token","challenge":"c"}'),
    bytes(`1${message}`),
    bytes(`2${JSON.stringify(botMessage)}`),
    bytes(`3${JSON.stringify(event)}`),
    Buffer.concat([bytes("4"), encodeFrame(pingFrame(1))]),
    bytes(`5${JSON.stringify(mention)}`)
  ],
  words: [
    "<![CDATA[",
    "]]>",
    "<!DOCTYPE",
    "&amp;",
    "</xml>",
    "<a>",
    '"mentions":',
    '"content":',
    "@_user_1 ",
    "--",
    "\\u202e"
  ],
  check: (input) => readers[(input[0] ?? 0) % readers.length]?.(input.subarray(1))
}

export const callbackTargets: ReadonlyArray<FuzzTarget> = [callbacks]

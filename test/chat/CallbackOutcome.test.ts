/** Callbacks of both platforms: what is accepted, and what is refused for which reason. */
import { noText } from "../../src/chat/Inbound.ts"
import { describe, expect, it } from "vitest"
import { Redacted } from "effect"
import { readFeishuCallback } from "../../src/chat/feishu/Callback.ts"
import { appForm, botForm, readWecomCallback } from "../../src/chat/wecom/Callback.ts"
import type { WecomForm } from "../../src/chat/wecom/Callback.ts"
import { encryptFeishu, feishuHeaders } from "../../demo/DemoChat.ts"
import { encryptWecom, wecomKey, wecomQuery } from "../harness/ChatSigning.ts"

const now = 1_700_000_000_000
const seconds = now / 1000

const wecom = (
  form: WecomForm,
  message: string,
  { at = seconds, receiver = "corp", wrap = (text: string) => `<xml><Encrypt><![CDATA[${text}]]></Encrypt></xml>` } = {}
) => {
  const encrypted = encryptWecom(wecomKey, message, receiver)
  return readWecomCallback(form)(
    {
      method: "POST",
      query: wecomQuery("token", encrypted, at),
      headers: {},
      body: Buffer.from(wrap(encrypted)),
      now
    },
    { token: Redacted.make("token"), key: Redacted.make(wecomKey), receivers: ["corp"] }
  )
}

const textXml = (content: string, rest = "") =>
  `<xml><ToUserName>corp</ToUserName><FromUserName><![CDATA[ada]]></FromUserName><CreateTime>1</CreateTime><MsgType>text</MsgType><Content><![CDATA[${content}]]></Content><MsgId>77</MsgId><AgentID>5</AgentID>${rest}</xml>`

const botJson = (content: object) =>
  JSON.stringify({ msgid: "m1", aibotid: "bot", from: { userid: "ada" }, chattype: "single", ...content })
const inBot = (text: string) => JSON.stringify({ encrypt: text })

describe("callbacks of WeCom", () => {
  it("read a text to an application", () => {
    expect(wecom(appForm("5"), textXml("status 12"))).toEqual({
      _tag: "Received",
      reply: { contentType: "text/plain; charset=utf-8", body: "" },
      inbound: {
        _tag: "Message",
        key: "msg:77",
        conversation: { kind: "direct", id: "ada" },
        sender: { type: "wecom_userid", id: "ada" },
        text: "status 12",
        mention: undefined,
        reply: { messageId: "77" }
      }
    })
  })

  it.each([
    ["old", textXml("x"), { at: seconds - 301 }, "stale"],
    ["from the future", textXml("x"), { at: seconds + 301 }, "stale"],
    ["for another corporation", textXml("x"), { receiver: "other" }, "receiver"],
    ["with a document type", `<!DOCTYPE xml [<!ENTITY a "b">]>${textXml("&a;")}`, {}, "malformed"],
    ["that is no XML", "hello", {}, "malformed"],
    ["in a body without encrypted text", textXml("x"), { wrap: () => "<xml></xml>" }, "malformed"]
  ] as const)("refuse a message %s", (_, message, options, reason) => {
    expect(wecom(appForm("5"), message, options)).toEqual({ _tag: "Refused", reason })
  })

  it("ignore messages of other applications", () => {
    const message = textXml("x").replace("<AgentID>5", "<AgentID>6")
    expect(wecom(appForm("5"), message)).toMatchObject({ inbound: { _tag: "Ignored" } })
  })

  it("read pictures and long texts as no text, to which a hint replies", () => {
    for (const message of [textXml("x").replace("text<", "image<"), textXml("x".repeat(2001))])
      expect(wecom(appForm("5"), message)).toMatchObject({ inbound: { _tag: "Message", text: noText } })
  })

  it.each([
    ["a voice message", { msgtype: "voice", voice: { content: "help" } }, "help"],
    [
      "a text with a picture",
      { msgtype: "mixed", mixed: { msg_item: [{ msgtype: "text", text: { content: "help" } }, { msgtype: "image" }] } },
      "help"
    ],
    ["a picture", { msgtype: "image", image: { url: "https://x" } }, noText]
  ])("read %s to a bot", (_, message, text) => {
    const read = wecom(botForm({ id: "bot", name: undefined }), botJson(message), { wrap: inBot })
    expect(read).toMatchObject({ inbound: { _tag: "Message", text } })
  })

  it("read a changed directory and a button", () => {
    const event = (name: string, rest = "") =>
      textXml("").replace("text<", "event<").replace("<MsgId>", `<Event>${name}</Event>${rest}<MsgId>`)
    expect(wecom(appForm("5"), event("change_contact"))).toMatchObject({ inbound: { _tag: "DirectoryChanged" } })
    expect(
      wecom(appForm("5"), event("template_card_event", "<EventKey>a1</EventKey><TaskId>t</TaskId>"))
    ).toMatchObject({ inbound: { _tag: "Action", actionId: "a1", key: "event:ada:1:a1" } })
  })

  it("read messages to a bot: direct, and in a group with its mention removed", () => {
    const form = botForm({ id: "bot", name: undefined })
    const options = { wrap: inBot }
    expect(wecom(form, botJson({ msgtype: "text", text: { content: "help" } }), options)).toMatchObject({
      inbound: { text: "help", conversation: { kind: "direct", id: "ada" }, mention: undefined }
    })
    const group = { chattype: "group", chatid: "g", msgtype: "text", text: { content: "@RobotA review app 3" } }
    expect(wecom(form, botJson(group), options)).toMatchObject({
      inbound: { text: "@RobotA review app 3", conversation: { kind: "group", id: "g" }, mention: true }
    })
    const outside = { from: { userid: "ada", corpid: "other" }, msgtype: "text", text: { content: "help" } }
    expect(wecom(form, botJson(outside), options)).toMatchObject({
      inbound: { sender: { type: "wecom_encrypted_userid" } }
    })
    expect(wecom(form, botJson({ ...outside, aibotid: "x" }), options)).toMatchObject({
      inbound: { _tag: "Ignored" }
    })
  })
})

const feishu = (payload: object, change: { headers?: object; body?: (text: string) => string } = {}) => {
  const encrypted = JSON.stringify({ encrypt: encryptFeishu("key", JSON.stringify(payload)) })
  const body = change.body?.(encrypted) ?? encrypted
  return readFeishuCallback(
    {
      method: "POST",
      query: new URLSearchParams(),
      headers: { ...feishuHeaders("key", body, seconds), ...change.headers },
      body: Buffer.from(body),
      now
    },
    { token: Redacted.make("token"), key: Redacted.make("key"), receivers: ["cli_a"], tenant: "t" }
  )
}

const feishuEvent = (type: string, event: object, header: object = {}) => ({
  schema: "2.0",
  header: { event_id: "e1", event_type: type, token: "token", app_id: "cli_a", tenant_key: "t", ...header },
  event
})

const feishuText = (text: string, more: object = {}, sender: object = {}, header: object = {}) => {
  const message = {
    message_id: "om_1",
    chat_id: "oc_1",
    chat_type: "group",
    message_type: "text",
    content: JSON.stringify({ text }),
    mentions: [{ key: "@_user_1", id: { open_id: "ou_bot" }, name: "aicr" }],
    ...more
  }
  const event = { sender: { sender_id: { open_id: "ou_ada" }, sender_type: "user", ...sender }, message }
  return feishuEvent("im.message.receive_v1", event, header)
}

describe("callbacks of Feishu", () => {
  it("read a message that mentions the bot, also of a body with other white space", () => {
    const expected = {
      _tag: "Received",
      inbound: {
        _tag: "Message",
        key: "msg:om_1",
        conversation: { kind: "group", id: "oc_1" },
        sender: { type: "feishu_open_id", id: "ou_ada" },
        text: "status 12",
        mention: ["ou_bot"],
        reply: { messageId: "om_1" }
      }
    }
    expect(feishu(feishuText("@_user_1 status 12"))).toMatchObject(expected)
    expect(feishu(feishuText("@_user_1 status 12"), { body: (text) => text.replace(":", " :  ") })).toMatchObject(
      expected
    )
  })

  const post = (...content: ReadonlyArray<object>) =>
    feishuText("", { message_type: "post", content: JSON.stringify({ title: "", content: [content] }) })
  const at = { tag: "at", user_id: "@_user_1", user_name: "aicr" }
  const two = {
    mentions: [
      { key: "@_user_1", id: { open_id: "ou_bot" } },
      { key: "@_user_2", id: { open_id: "ou_bob" } }
    ]
  }
  it.each([
    ["a mention inside", feishuText("请 @_user_1 review web 7"), "请   review web 7"],
    ["a mention at the end", feishuText("help @_user_1"), "help"],
    ["no space after the mention", feishuText("@_user_1help"), "help"],
    [
      "a post",
      post(at, { tag: "text", text: " review", style: ["bold"] }, { tag: "text", text: " web 7" }),
      "review web 7"
    ],
    ["a picture", feishuText("", { message_type: "image", content: '{"image_key":"k"}' }), noText]
  ])("read %s", (_, payload, text) => {
    expect(feishu(payload)).toMatchObject({ inbound: { _tag: "Message", text, mention: ["ou_bot"] } })
  })

  it("name all mentions of a message in a group, and after the word aicr only one at its start", () => {
    expect(feishu(feishuText("@_user_2 @_user_1 help", two))).toMatchObject({
      inbound: { text: "help", mention: ["ou_bot", "ou_bob"] }
    })
    expect(feishu(feishuText("aicr help @_user_2", two))).toMatchObject({ inbound: { text: "aicr help" } })
    expect(feishu(feishuText("aicr help @_user_2", two))).not.toHaveProperty("inbound.mention.0")
    const picture = { message_type: "image", content: "{}", mentions: [] }
    expect(feishu(feishuText("", picture))).toMatchObject({ inbound: { _tag: "Ignored" } })
    expect(feishu(feishuText("", { ...picture, chat_type: "p2p" }))).toMatchObject({ inbound: { text: noText } })
  })

  it.each([
    ["without a signature", feishuText("x"), { headers: { "x-lark-signature": undefined } }, "signature"],
    ["with a wrong one", feishuText("x"), { headers: { "x-lark-signature": "00" } }, "signature"],
    ["with another time", feishuText("x"), { headers: { "x-lark-request-timestamp": "1699990000" } }, "signature"],
    ["with another token", feishuEvent("x", {}, { token: "other" }), {}, "signature"],
    ["in clear", feishuText("x"), { body: (): string => JSON.stringify(feishuText("x")) }, "signature"],
    ["that is no JSON", feishuText("x"), { body: (): string => "hello" }, "malformed"]
  ] as const)("refuse an event %s", (_, payload, change, reason) => {
    expect(feishu(payload, change)).toEqual({ _tag: "Refused", reason })
  })

  it("refuse an old event", () => {
    const body: string = JSON.stringify({ encrypt: encryptFeishu("key", JSON.stringify(feishuText("x"))) })
    expect(feishu({}, { body: () => body, headers: feishuHeaders("key", body, seconds - 301) })).toEqual({
      _tag: "Refused",
      reason: "stale"
    })
  })

  it("respond to a challenge only with the right token, and with no wrong signature", () => {
    const unsigned = { headers: { "x-lark-signature": undefined } }
    const challenge = { type: "url_verification", challenge: "c", token: "token" }
    expect(feishu(challenge, unsigned)).toMatchObject({ _tag: "Challenge", reply: { body: '{"challenge":"c"}' } })
    const refused = { _tag: "Refused", reason: "signature" }
    expect(feishu({ ...challenge, token: "other" }, unsigned)).toEqual(refused)
    expect(feishu(challenge, { headers: { "x-lark-signature": "00" } })).toEqual(refused)
  })

  it("ignore bots, other applications, other tenants and pictures without a mention", () => {
    for (const payload of [
      feishuText("x", {}, { sender_type: "bot" }),
      feishuText("x", {}, {}, { app_id: "cli_b" }),
      feishuText("x", {}, {}, { tenant_key: "u" }),
      feishuText("x", { message_type: "image", mentions: [] }),
      // Fields of the event do not replace those of the header.
      { ...feishuText("x"), header: { event_type: "im.message.receive_v1", token: "token" }, app_id: "cli_a" }
    ])
      expect(feishu(payload)).toMatchObject({ inbound: { _tag: "Ignored" } })
  })

  it("read a button and a changed directory", () => {
    const event = {
      operator: { open_id: "ou_ada" },
      context: { open_chat_id: "oc_1", open_message_id: "om_2" },
      action: { value: { aicr: "a1" } }
    }
    expect(feishu(feishuEvent("card.action.trigger", event))).toMatchObject({
      inbound: { _tag: "Action", actionId: "a1", key: "event:e1" }
    })
    expect(feishu(feishuEvent("contact.user.updated_v3", {}))).toMatchObject({ inbound: { _tag: "DirectoryChanged" } })
  })
})

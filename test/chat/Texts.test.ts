/** Help in English and Chinese. */
import { expect, it } from "vitest"
import { chineseName } from "../../src/chat/Command.ts"
import { textsFor } from "../../src/chat/Texts.ts"
import { chatRequestNames } from "../../src/domain/ChatRequest.ts"

it.each([
  ["en", "Commands", "ids of you and of this conversation"],
  ["de-DE", "Commands", "ids of you and of this conversation"],
  ["zh-CN", "命令", "显示您和本会话的 ID"],
  ["zh", "命令", "显示您和本会话的 ID"]
])("help in %s has a title and the purpose of each command", (language, title, purpose) => {
  const lines = textsFor(language).help(chatRequestNames).split("\n")
  expect(lines[0]).toBe(`**${title}**`)
  const names = lines.slice(1).map((line) => /^- `aicr (\S+?)(?: [^`]*)?` \S/.exec(line)?.[1])
  expect(names).toEqual(language.startsWith("zh") ? chatRequestNames.map(chineseName) : chatRequestNames)
  expect(lines.at(chatRequestNames.indexOf("chat-id") + 1)).toContain(purpose)
})

it("help lists only what is allowed", () => {
  expect(textsFor("en").help(["projects"])).toBe("**Commands**\n- `aicr projects` repositories that you may name")
})

it("replies in Chinese name states, severities and reasons in Chinese", () => {
  const texts = textsFor("zh-CN")
  expect(texts.value("run", "succeeded")).toBe("成功")
  expect(texts.value("request", "queued")).toBe("排队中")
  expect(texts.value("severity", "high")).toBe("高")
  expect(texts.reason({ _tag: "CancelledFromChat", type: "feishu_open_id", id: "ou_ada" })).not.toContain("cancelled")
  expect(texts.usage("review")).toBe("用法：`aicr 评审 <别名> <版本>`")
  const { value } = textsFor("en")
  expect([value("run", "succeeded"), value("severity", "high")]).toEqual(["succeeded", "high"])
})

it.each([
  [1, 0, "1 waiting review of x cancelled."],
  [0, 1, "1 running review of x will end within seconds."],
  [2, 3, "2 waiting reviews of x cancelled. 3 running reviews of x will end within seconds."]
])("%i waiting and %i running reviews are named as what happened to them", (waiting, running, text) => {
  expect(textsFor("en").cancelled("x", waiting, running)).toBe(text)
})

/** Help in English and Chinese. */
import { expect, it } from "vitest"
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
  expect(lines.slice(1).map((line) => /^- `aicr (\S+?)(?: [^`]*)?` \S/.exec(line)?.[1])).toEqual(chatRequestNames)
  expect(lines.find((line) => line.includes("aicr chat-id"))).toContain(purpose)
})

it("help lists only what is allowed", () => {
  expect(textsFor("en").help(["projects"])).toBe("**Commands**\n- `aicr projects` repositories that you may name")
})

/** Cards of WeCom with buttons, within the limits of the platform. */
import { describe, expect, it } from "vitest"
import { toTemplateCard } from "../../../src/chat/wecom/Card.ts"
import { readTemplateCard } from "../../harness/TemplateCard.ts"

const dismiss = (id: string) => ({ id, label: `Dismiss: Problem ${id} ${"of a long title ".repeat(4)}` })
const result = {
  text: "\n**[team/one #1](https://host.test/team/one/pulls/1)** `ended` 👩‍💻 with a longer line than a title\nmore",
  buttons: [{ id: "a", label: "Run again" }, { id: "b", label: "Details" }, ...["c", "d", "e", "f", "g"].map(dismiss)]
}

describe("cards of WeCom", () => {
  it("have at most six buttons with short names, and list what the others are about", () => {
    const card = readTemplateCard(toTemplateCard(result, "key_1"), new Set())
    expect(card?.buttons).toEqual([
      { id: "a", label: "Run again" },
      { id: "b", label: "Details" },
      { id: "c", label: "Dismiss 1" },
      { id: "d", label: "Dismiss 2" },
      { id: "e", label: "Dismiss 3" },
      { id: "f", label: "Dismiss 4" }
    ])
    expect(card?.details[1]).toBe("Problem d of a long title…")
  })

  it("have the first line as text, without markup", () => {
    const card = toTemplateCard(result, "k")
    expect(card.main_title.title).toBe("team/one #1 ended 👩‍💻 wit…")
    expect(card.sub_title_text).toBe("team/one #1 ended 👩‍💻 with a longer line than a title")
  })

  it.each([
    ["", "aicr"],
    ["[[[((((``**", "(((("],
    [" \n ", "aicr"]
  ])("have a title for the text %j", (text, title) => {
    const card = toTemplateCard({ text, buttons: [{ id: "a", label: "x".repeat(40) }] }, "k/../ü")
    expect(card.main_title.title).toBe(title)
    expect(readTemplateCard(card, new Set())?.buttons[0]?.label).toBe(`${"x".repeat(9)}…`)
    expect(card.task_id).toBe("k_____")
  })
})

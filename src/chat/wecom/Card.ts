/**
 * Builds the template card of WeCom that carries buttons (`button_interaction`: developer.work.weixin.qq.com, 90236 and 101032). It has
 * room for a line of text and six buttons, so that it follows the message that it belongs to. Pure.
 */
import type { ChatText } from "../ChatClient.ts"

const maxButtons = 6
/** Longest texts that WeCom shows, in characters. */
const lengths = { title: 26, line: 112, name: 10, value: 26 } as const
const untitled = "aicr"
/** Longest first line that is read. */
const maxLine = 400

const cut = (text: string, length: number): string => {
  const characters = [...text]
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`
}

/** Returns a line without the markup of messages, which cards do not render. */
const toPlain = (text: string): string =>
  (text.split("\n").find((line) => line.trim() !== "") ?? "")
    .slice(0, maxLine)
    .replace(/\]\([^()]{0,300}\)/g, "")
    .replace(/[[\]*`]/g, "")
    .trim()
    .toWellFormed() || untitled

/** `id`: names the card; letters, digits, `_`, `-` and `@`. */
export const toTemplateCard = ({ buttons, text }: Pick<ChatText, "buttons" | "text">, id: string) => {
  const line = toPlain(text)
  const details: Array<{ readonly keyname: string; readonly value: string }> = []
  const list = buttons.slice(0, maxButtons).map(({ id: key, label }) => {
    const at = label.indexOf(": ")
    if (at === -1) return { text: cut(label, lengths.name), style: 2, key }
    // The problem that a button is about is part of the card, because a button shows ten characters.
    const keyname = `${details.length + 1}`
    details.push({ keyname, value: cut(label.slice(at + 2), lengths.value) })
    return { text: `${cut(label.slice(0, at), lengths.name - 2)} ${keyname}`, style: 2, key }
  })
  return {
    card_type: "button_interaction",
    main_title: { title: cut(line, lengths.title) },
    ...([...line].length > lengths.title ? { sub_title_text: cut(line, lengths.line) } : {}),
    ...(details.length > 0 ? { horizontal_content_list: details } : {}),
    task_id: id.replace(/[^\w@-]/g, "_").slice(0, 128),
    button_list: list
  }
}

/** The rules of WeCom for template cards with buttons. */
import type { SeenMessage } from "../../demo/DemoFeishu.ts"

export interface TemplateCard {
  readonly title: string
  /** Texts of its list. */
  readonly details: ReadonlyArray<string>
  readonly buttons: SeenMessage["buttons"]
}

/** Returns a valid card; undefined for one that the platform refuses. `tasks`: ids of earlier cards, each of which is used once. */
export const readTemplateCard = (card: unknown, tasks: Set<string>): TemplateCard | undefined => {
  const {
    button_list: list = [],
    card_type: type,
    horizontal_content_list: rows = [],
    main_title: title,
    task_id: task
  } = Object(card)
  const buttons = Object.values<Record<string, unknown>>(list).map(({ key, text }) => ({
    id: String(key),
    label: String(text)
  }))
  const keys = new Set(buttons.map(({ id }) => id))
  const isValid =
    type === "button_interaction" &&
    typeof title?.title === "string" &&
    title.title !== "" &&
    /^[\w@-]{1,128}$/.test(task) &&
    !tasks.has(task) &&
    buttons.length > 0 &&
    buttons.length <= 6 &&
    keys.size === buttons.length &&
    rows.length <= 6 &&
    buttons.every(({ id, label }) => id.length <= 1024 && label !== "" && label.length <= 10)
  if (!isValid) return undefined
  tasks.add(task)
  return { title: title.title, details: rows.map(({ value }: { value: unknown }) => String(value)), buttons }
}

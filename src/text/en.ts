/** Every text of the service in English. `zh.ts` has the same keys. */
import type { Reason } from "../domain/Reason.ts"
import { chatTexts } from "./en/Chat.ts"
import { deliveryTexts } from "./en/Delivery.ts"
import { hostTexts } from "./en/Host.ts"
import { modelTexts } from "./en/Model.ts"
import { noticeTexts } from "./en/Notice.ts"
import { pageTexts } from "./en/Pages.ts"
import { publicationTexts } from "./en/Publication.ts"
import { queueTexts } from "./en/Queue.ts"
import { runTexts } from "./en/Run.ts"
import type { LanguageTexts } from "./Render.ts"
import { render } from "./Render.ts"

export const en: LanguageTexts = {
  reasons: {
    Text: "{text}",
    Unknown: "{tag}",
    ...chatTexts,
    ...deliveryTexts,
    ...hostTexts,
    ...modelTexts,
    ...noticeTexts,
    ...publicationTexts,
    ...queueTexts,
    ...runTexts
  },
  keys: pageTexts,
  separators: [", ", "; "]
}

/** Text of a reason in English: for commands, and for what is published in English. */
export const inEnglish = (reason: Reason): string => render(en, reason)

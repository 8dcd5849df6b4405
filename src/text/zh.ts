/** Every text of the service in Chinese. `en.ts` has the same keys. */
import type { Reason } from "../domain/Reason.ts"
import type { LanguageTexts } from "./Render.ts"
import { render } from "./Render.ts"
import { chatTexts } from "./zh/Chat.ts"
import { deliveryTexts } from "./zh/Delivery.ts"
import { hostTexts } from "./zh/Host.ts"
import { modelTexts } from "./zh/Model.ts"
import { noticeTexts } from "./zh/Notice.ts"
import { pageTexts } from "./zh/Pages.ts"
import { publicationTexts } from "./zh/Publication.ts"
import { queueTexts } from "./zh/Queue.ts"
import { runTexts } from "./zh/Run.ts"

export const zh: LanguageTexts = {
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
  separators: ["、", "；"]
}

/** Text of a reason in Chinese: for what is published in Chinese. */
export const inChinese = (reason: Reason): string => render(zh, reason)

/** Every text of the service in English. `zh.ts` has the same keys. */
import type { Reason } from "../domain/Reason.ts"
import { deliveryTexts } from "./en/Delivery.ts"
import { modelTexts } from "./en/Model.ts"
import { pageTexts } from "./en/Pages.ts"
import { queueTexts } from "./en/Queue.ts"
import { runTexts } from "./en/Run.ts"
import type { LanguageTexts } from "./Render.ts"
import { render } from "./Render.ts"

export const en: LanguageTexts = {
  reasons: { Text: "{text}", Unknown: "{tag}", ...deliveryTexts, ...modelTexts, ...queueTexts, ...runTexts },
  keys: pageTexts,
  separators: [", ", "; "]
}

/** Text of a reason in English: for commands, and for what is published in English. */
export const inEnglish = (reason: Reason): string => render(en, reason)

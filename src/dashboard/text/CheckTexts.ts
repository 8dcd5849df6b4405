/** Adds texts about the check of triggers and their webhooks, for the pages that show them. */
import { checkTexts as en } from "../../text/en/Check.ts"
import { checkTexts as zh } from "../../text/zh/Check.ts"
import { addReasonTexts } from "./T.ts"

addReasonTexts({ en, "zh-CN": zh })

/** Adds texts about the erasure of a person, for the dialog that shows them. */
import { personTexts as en } from "../../text/en/Person.ts"
import { personTexts as zh } from "../../text/zh/Person.ts"
import { addReasonTexts } from "./T.ts"

addReasonTexts({ en, "zh-CN": zh })

/** Adds texts of pages that the first page does not show, for the pages that show them. Test: test/dashboard/text/PagedTexts.test.ts. */
import { pagedTexts as en } from "../../text/en/Paged.ts"
import { pagedTexts as zh } from "../../text/zh/Paged.ts"
import { addPageTexts } from "./T.ts"

addPageTexts({ en, "zh-CN": zh })

/** The texts that every page may show in Chinese: loaded where Chinese is the language. */
export { common } from "../../text/zh/Common.ts"
export { serviceTexts } from "./ServiceTexts.ts"

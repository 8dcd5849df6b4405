/** Title of a message: one inert line. Pure. */
import { plainLine } from "../text/InertText.ts"

const maxTitle = 200

export const titled = (title: string): string => plainLine(title.slice(0, maxTitle))

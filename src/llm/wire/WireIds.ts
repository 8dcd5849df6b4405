/** Ids and times of translated responses. */
import { newId } from "../../domain/Ids.ts"

export const newWireId = (prefix: string): string => `${prefix}_${newId().replaceAll("-", "")}`

/** Seconds since the epoch. */
export const nowSeconds = (): number => Math.floor(Date.now() / 1000)

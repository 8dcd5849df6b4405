/** Code compared apart from its layout: two lines are the same when they differ in white space only. Pure. */

export const squeeze = (code: string): string => code.replace(/\s+/g, "")

/** Letters and digits of a squeezed text: how much a quote says. `});` says nothing, `return null` says something. */
export const weight = (squeezed: string): number => squeezed.match(/[\p{L}\p{N}]/gu)?.length ?? 0

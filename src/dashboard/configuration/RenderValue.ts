/** Values and paths of the configuration as text. */

export const renderValue = (value: unknown): string =>
  value === null || value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value)

export const fullPath = ({ entity, path }: { readonly entity: string; readonly path: string }): string =>
  [entity, path].filter(Boolean).join(".")

/** Types of LoadBundle.mjs. */
/** Returns the exports of the script `entry` of a bundle. `folder`: that of the bundle. */
export declare const loadBundle: (folder: string, entry: string) => Readonly<Record<string, unknown>>

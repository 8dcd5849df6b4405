/** Makes the elements of every page, as React does (`jsxImportSource`), with texts as `showProps` shows them. */
import * as react from "react/jsx-runtime"
import { showProps } from "./ShowProps.ts"
import type { Props } from "./ShowProps.ts"

export type { JSX } from "react/jsx-runtime"
export const { Fragment } = react

type Make = (type: Parameters<typeof react.jsx>[0], props: Props, key?: string) => ReturnType<typeof react.jsx>

export const jsx: Make = (type, props, key) => react.jsx(type, showProps(props), key)
export const jsxs: Make = (type, props, key) => react.jsxs(type, showProps(props), key)

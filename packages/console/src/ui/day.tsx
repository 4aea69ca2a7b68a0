import { formatFromNow } from "./relative-time.ts";
import { formatDate, formatTime } from "./time.ts";

type Props = Readonly<{ time: string; class?: string }>;

/** A time in words; its tooltip has the date and the hour. */
export const Time = ({ time, class: look = "", words }: Props & { readonly words: string }) => (
  <time class={`day ${look}`} dateTime={time} title={formatTime(time)}>
    {words}
  </time>
);

export const Day = ({ time }: Props) => <Time time={time} words={formatDate(time)} />;

export const FromNow = (props: Props) => <Time {...props} words={formatFromNow(props.time, Date.now())} />;

import { formatFromNow } from "./relative-time.ts";
import { formatDate, formatTime } from "./time.ts";

interface Props {
  readonly time: string;
  readonly class?: string;
}

/** The day of a time; its tooltip has the hour. */
export const Day = ({ time }: Props) => (
  <time class="day" dateTime={time} title={formatTime(time)}>
    {formatDate(time)}
  </time>
);

/** A time from now in words; its tooltip has the date and the hour. */
export const FromNow = ({ time, class: look = "" }: Props) => (
  <time class={`day ${look}`} dateTime={time} title={formatTime(time)}>
    {formatFromNow(time, Date.now())}
  </time>
);

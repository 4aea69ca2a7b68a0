import { formatDate, formatTime } from "./time.ts";

/** The day of a time; its tooltip has the hour. In: an ISO 8601 time. */
export const Day = ({ time }: { readonly time: string }) => (
  <time class="day" dateTime={time} title={formatTime(time)}>
    {formatDate(time)}
  </time>
);

mod concern;
mod meetings;
mod post;
